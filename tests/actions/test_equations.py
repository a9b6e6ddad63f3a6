"""Equations of Word documents."""

import pytest

from fsagent_tools import Workspace, toolset
from tests import office

pytest.importorskip("kreuzberg")
MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def r(text):
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(text):
    return f"<m:e>{text}</m:e>"


def prop(kind, **values):
    inner = "".join(f'<m:{name} m:val="{value}"/>' for name, value in values.items())
    return f"<m:{kind}Pr>{inner}</m:{kind}Pr>"


N_OVER_K = f"<m:num>{r('n')}</m:num><m:den>{r('k')}</m:den>"
EQUATIONS = {
    r"\frac{a}{b}": f"<m:f><m:num>{r('a')}</m:num><m:den>{r('b')}</m:den></m:f>",
    "x^{2}": f"<m:sSup>{e(r('x'))}<m:sup>{r('2')}</m:sup></m:sSup>",
    "{ab}_{i}": f"<m:sSub>{e(r('ab'))}<m:sub>{r('i')}</m:sub></m:sSub>",
    r"\sqrt{x &lt; y}": f"<m:rad>{prop('rad', degHide='1')}<m:deg/>{e(r('x &lt; y'))}</m:rad>",
    r"\sqrt[3]{x}": f"<m:rad><m:deg>{r('3')}</m:deg>{e(r('x'))}</m:rad>",
    r"\sum_{i=1}^{n} i": (
        f"<m:nary>{prop('nary', chr='∑')}<m:sub>{r('i=1')}</m:sub><m:sup>{r('n')}</m:sup>"
        f"{e(r('i'))}</m:nary>"
    ),
    r"\int x": f"<m:nary><m:sub/><m:sup/>{e(r('x'))}</m:nary>",
    r"\left( a|b \right)": f"<m:d>{e(r('a'))}{e(r('b'))}</m:d>",
    r"\left\{ a \right.": f"<m:d>{prop('d', begChr='{', endChr='')}{e(r('a'))}</m:d>",
    "sin x": f"<m:func><m:fName>{r('sin')}</m:fName>{e(r('x'))}</m:func>",
    r"\vec{v}": f"<m:acc>{prop('acc', chr='&#x20d7;')}{e(r('v'))}</m:acc>",
    r"\ddot{v}": f"<m:acc>{prop('acc', chr='&#x308;')}{e(r('v'))}</m:acc>",
    "v\u0335": f"<m:acc>{prop('acc', chr='&#x335;')}{e(r('v'))}</m:acc>",  # unnamed in LaTeX
    r"\overline{x}": f"<m:bar>{prop('bar', pos='top')}{e(r('x'))}</m:bar>",
    r"\underline{x}": f"<m:bar>{e(r('x'))}</m:bar>",
    r"\underbrace{x}": f"<m:groupChr>{e(r('x'))}</m:groupChr>",
    r"\overset{→}{x}": (
        f"<m:groupChr>{prop('groupChr', chr='→', pos='top')}{e(r('x'))}</m:groupChr>"
    ),
    r"\left( {n \atop k} \right)": (
        f"<m:d>{e('<m:f>' + prop('f', type='noBar') + N_OVER_K + '</m:f>')}</m:d>"
    ),
    r"\text{if x}": f"<m:r>{prop('r', nor='1')}<m:t>if x</m:t></m:r>",
    r"5\% \#": r("5% #"),
    r"\begin{matrix}a & b \\ c & d\end{matrix}": (
        f"<m:m><m:mr>{e(r('a'))}{e(r('b'))}</m:mr><m:mr>{e(r('c'))}{e(r('d'))}</m:mr></m:m>"
    ),
    "a*b_c": r("a*b_c"),
}


@pytest.fixture
def read(tmp_path):
    workspace = Workspace(tmp_path)

    def told(body):
        (tmp_path / "a.docx").write_bytes(office.docx(body))
        return toolset("workspace").bind(workspace)["read"].call({"file_path": "a.docx"}).text

    yield told
    workspace.close()


def test_equations_are_latex_where_they_stand(read):
    body = "".join(
        f"<w:p><w:r><w:t>For </w:t></w:r><m:oMath {MATH}>{xml}</m:oMath>"
        "<w:r><w:t>, it holds.</w:t></w:r></w:p>"
        for xml in EQUATIONS.values()
    )
    latex = [one.replace("&lt;", "<") for one in EQUATIONS]
    assert read(body).split("\n\n") == [f"For ${one}$, it holds." for one in latex]


def test_an_equation_on_a_line_of_its_own_is_told(read):
    alone = f"<m:oMathPara {MATH}><m:oMath>{r('a = b')}</m:oMath></m:oMathPara>"
    assert read(f"<w:p>{alone}</w:p>{office.paragraph('end')}") == "$a = b$\n\nend"


def test_an_equation_that_is_nested_beyond_measure_leaves_the_rest(read):
    deep = "<m:box>" * 30_000 + "</m:box>" * 30_000
    body = f"<w:p><m:oMath {MATH}>{deep}</m:oMath></w:p>{office.paragraph('Words.')}"
    assert "Words." in read(body) or "cannot be read" in read(body)
