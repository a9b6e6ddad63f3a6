"""Strings made by `%` and f-strings: the same text in two styles, told apart from other text."""

import ast
import re

from benchmark.agent.source import parsed, tree

PLACE = re.compile(r"%(?:%|(?P<spec>[-+ 0#]*\d*(?:\.\d+)?)(?P<kind>[srdfxXgeo]))")


def percents(whole: ast.AST) -> list[ast.BinOp]:
    return [
        node
        for node in ast.walk(whole)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and isinstance(node.left, ast.Constant)
        and isinstance(node.left.value, str)
    ]


def left(text: str) -> bool:
    """Whether a literal with a `%` behind it is left, or nothing parses."""
    whole = tree(text)
    return not whole.body or bool(percents(whole))


def literal(node: ast.BinOp) -> ast.JoinedStr | None:
    """The f-string that says the same; None where that is not plain to see."""
    text = node.left.value if isinstance(node.left, ast.Constant) else None
    given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
    if not isinstance(text, str) or isinstance(node.right, ast.Dict):
        return None
    made, at, values = list[ast.expr](), 0, iter(given)
    for place in PLACE.finditer(text):
        made.append(ast.Constant(text[at : place.start()].replace("%%", "%")))
        at = place.end()
        if not place["kind"]:
            made.append(ast.Constant("%"))
            continue
        value, kind, spec = next(values, None), place["kind"], place["spec"]
        if value is None or (spec and kind in "sr") or "#" in spec or "-" in spec:
            return None
        conversion = ord("r") if kind == "r" else -1
        told = "" if kind in "sr" else spec + kind
        form = ast.JoinedStr([ast.Constant(told)]) if told else None
        made.append(ast.FormattedValue(value, conversion, form))
    made.append(ast.Constant(text[at:]))
    if "%" in PLACE.sub("", text) or next(values, None) is not None:
        return None
    return ast.JoinedStr([one for one in made if getattr(one, "value", "") != ""])


class Said(ast.NodeTransformer):
    """A formatted string of either style becomes the list of its pieces."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # ast's name
        made = literal(node) if node in percents(node) else None
        return self.visit_JoinedStr(made) if made else self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:  # ast's name
        pieces = [""]  # texts, with values between them
        for one in node.values:
            if not isinstance(one, ast.FormattedValue):
                pieces[-1] += str(getattr(one, "value", ""))
                continue
            value = self.visit(one.value)
            spec = ast.unparse(one.format_spec)[2:-1] if one.format_spec else ""
            kind = "r" if one.conversion == ord("r") else ""
            called = ast.unparse(value.func) if isinstance(value, ast.Call) and value.args else ""
            if called in ("str", "repr"):
                value = value.args[0]
                kind = "r" if called == "repr" else kind
            pieces += [f"{ast.dump(value)}!{kind}:{spec.removesuffix('d')}", ""]
        return ast.Constant(repr(("said", *pieces)))


def told(text: str) -> str:
    """The module, with its formatted strings by what they say."""
    return ast.dump(Said().visit(parsed(text)))
