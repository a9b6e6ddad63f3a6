"""How each toolset spells what a conformance row asks for: tool, its arguments, constants."""

EDITOR = "str_replace_based_edit_tool"
_BY_ID = {
    "read": "read file_path offset limit",
    "write": "write file_path content",
    "edit_lines": "edit_lines file_path changes",
    "glob": "glob pattern path",
    "grep": "grep pattern path",
    "ls": "ls path",
}
_PROGRAMS = {
    "bash": "bash command timeout",
    "webfetch": "webfetch url timeout",
    "websearch": "websearch query",
}

# verb -> the tool; then its arguments, `ours=theirs` where names differ, `theirs:constant`
SPELLINGS: dict[str, dict[str, str]] = {
    "workspace": {**_BY_ID, **_PROGRAMS},
    "line_ids": _BY_ID,
    "lines": {**_BY_ID, **_PROGRAMS},
    "readonly": {verb: _BY_ID[verb] for verb in ("read", "glob", "grep", "ls")},
    "compact": {
        "read": "Read file_path offset limit",
        "write": "Write file_path content",
        "edit": "Edit file_path old_string new_string",
        "glob": "Glob pattern path",
        "grep": "Grep pattern path",
    },
    "file_ops": {
        "read": "read_file file_path offset limit",
        "write": "write file_path content",
        "edit": "edit_file file_path old_string new_string",
        "edit_all": "search_replace file_path old_string=search_string "
        "new_string=replace_string replace_all:true",
    },
    "filesystem": {
        "read": "read file_path=path offset=start_line",
        "write": "write file_path=path content",
        "edit": "edit file_path=path old_string new_string",
        "edit_all": "edit file_path=path old_string new_string count:0",
        "ls": "ls path",
        "grep": "grep pattern path",
        "glob": "find pattern path",
        "stat": "file_stat file_path=path",
        "mkdir": "mkdir file_path=path",
        "rm": "rm file_path=path recursive:true",
        "mv": "mv file_path=source destination",
        "cp": "cp file_path=source destination",
        "insert": "insert file_path=path line:1 content",
    },
    "openai": {
        "read": "read file_path=path offset limit",
        "patch": "apply_patch input",
        "bash": "shell command",
        "grep": "grep pattern path",
    },
    "anthropic": {
        "read": f"{EDITOR} command:view file_path=path",
        "write": f"{EDITOR} command:create file_path=path content=file_text",
        "edit": f"{EDITOR} command:str_replace file_path=path old_string=old_str "
        "new_string=new_str",
        "insert": f"{EDITOR} command:insert file_path=path insert_line:0 content=insert_text",
        "ls": f"{EDITOR} command:view path",
        "bash": "bash command",
        "rm": "memory command:delete file_path=path",
        "mv": "memory command:rename file_path=old_path destination=new_path",
    },
    "deepagents": {
        "read": "read_file file_path offset limit",
        "write": "write_file file_path content",
        "edit": "edit_file file_path old_string new_string",
        "edit_all": "edit_file file_path old_string new_string replace_all:true",
        "rm": "delete file_path",
        "ls": "ls path",
        "glob": "glob pattern path",
        "grep": "grep pattern path output_mode:content",
        "bash": "execute command timeout",
    },
    "refactor": {},  # asks a language server; its session is all
}
_CONSTANTS = {"true": True, "0": 0, "1": 1}


def spelled(toolset: str, verb: str, arguments: dict) -> tuple[str, dict] | None:
    """(tool, arguments) of the toolset; None where it has no tool for the verb.

    An argument without a word of the toolset is sent as it is, as a model that guesses would.
    """
    sentence = SPELLINGS[toolset].get(verb)
    if sentence is None:
        return None
    tool, *words = sentence.split()
    names = dict(word.split("=") for word in words if "=" in word)
    fixed = dict(word.split(":") for word in words if ":" in word)
    fixed = {name: _CONSTANTS.get(value, value) for name, value in fixed.items()}
    given = {names.get(name, name): value for name, value in arguments.items()}
    if tool == "shell" and isinstance(given.get("command"), str):
        given["command"] = ["bash", "-lc", given["command"]]
        if "timeout" in given:
            given["timeout_ms"] = given.pop("timeout") * 1000
    return tool, {**fixed, **given}
