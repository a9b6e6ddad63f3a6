"""Schemas that every provider's strict mode takes, and calls filled as such a mode fills them."""

import pickle

import jsonschema
import pytest
from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from fsagent_tools import TOOLSETS, Workspace, select_tools
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import FsAgentMiddleware, get_tools
from samples import ID, NEW, PRICES, arguments

pytestmark = pytest.mark.full

ANSWERED = ModelResponse([AIMessage("Done.")])
KNOWN = {
    *("type", "description", "enum", "items", "properties", "required", "additionalProperties"),
    "anyOf",
    *("minimum", "maximum", "minLength", "maxLength"),
}
BEYOND_STRICT = {"minimum", "maximum", "minLength", "maxLength"}
EVERY = [(name, tool.name) for name in TOOLSETS for tool in select_tools(".", name)]
every_tool = pytest.mark.parametrize(("toolset", "name"), EVERY)


def schemas(schema):
    """A schema and all inside it."""
    yield schema
    inside = (*schema.get("properties", {}).values(), *schema.get("anyOf", ()))
    for inner in (*inside, schema.get("items")):
        if inner:
            yield from schemas(inner)


def openai(tool, **options):
    model = pytest.importorskip("langchain_openai").ChatOpenAI(model="gpt-5", api_key="none")
    (bound,) = model.bind_tools([tool], **options).kwargs["tools"]
    return bound["function"]["parameters"]


def anthropic(tool, **options):
    model = pytest.importorskip("langchain_anthropic").ChatAnthropic(model="claude", api_key="none")
    (bound,) = model.bind_tools([tool], **options).kwargs["tools"]
    return bound["input_schema"]


def google(tool):
    """The declaration as it is sent."""
    module = pytest.importorskip("langchain_google_genai._function_utils")
    (converted,) = module.convert_to_genai_function_declarations([tool])
    (declared,) = converted.function_declarations
    return declared.model_dump(exclude_none=True, mode="json")["parameters"]


def filled(schema, given, blank):
    """Every property of a strict schema: what is given, else `blank` where it takes that."""
    values = {}
    for name, field in schema["properties"].items():
        if isinstance(given.get(name), list):
            inner = field["items"]
            values[name] = [
                filled(inner, one, blank) if isinstance(one, dict) else one for one in given[name]
            ]
        elif name in given:
            values[name] = given[name]
        elif blank is None or {"type": "string"} in (field, *field.get("anyOf", ())):
            values[name] = blank
        else:
            values[name] = None
    return values


def loaded(shop, toolset, name, **options):
    workspace = Workspace(shop)
    tools = {t.name: t for t in get_tools(workspace, toolset, **options)}
    if "edit" in name.lower():
        for reader in [t for n, t in tools.items() if n.lower().startswith("read")][:1]:
            reader.core.call({next(iter(reader.args)): PRICES})
    return tools[name]


@every_tool
def test_schemas_have_only_keywords_of_json_schema(toolset, name, shop):
    tool = loaded(shop, toolset, name)
    jsonschema.Draft202012Validator.check_schema(tool.core.schema)
    assert {key for schema in schemas(tool.core.schema) for key in schema} <= KNOWN


@every_tool
def test_strict_schemas_are_closed_and_their_optionals_take_null(toolset, name, shop):
    tool = loaded(shop, toolset, name, strict=True)
    bound = openai(tool, strict=True)
    for found in (tool.core.schema, convert_to_openai_tool(tool, strict=True), bound):
        schema = found.get("function", {}).get("parameters", found)
        inside = [*schemas(schema)]
        assert not BEYOND_STRICT & {key for one in inside for key in one}
        for one in inside:
            if "properties" in one:
                assert [*one["properties"]] == one["required"]
                assert one["additionalProperties"] is False
    needed = get_tools(shop, toolset, only=[name])[0].core.schema.get("required", ())
    for parameter, field in tool.core.schema["properties"].items():
        assert ({"type": "null"} in field.get("anyOf", ())) == (parameter not in needed)


@pytest.mark.parametrize("blank", [None, ""])
@every_tool
def test_a_call_that_fills_every_parameter_is_as_good_as_a_short_one(toolset, name, blank, shop):
    tool = loaded(shop, toolset, name, strict=True)
    before = (shop / PRICES).read_bytes()
    for schema in (openai(tool, strict=True), anthropic(tool, strict=True)):
        (shop / PRICES).write_bytes(before)  # the same call twice is another matter
        (short,) = get_tools(shop, toolset, only=[name])
        sent = filled(schema, arguments(short.core), blank)
        jsonschema.validate(sent, schema)
        outcome = tool.core.call(sent)
        assert outcome.code != "VALIDATION_ERROR", outcome.text
    told = {n: f for n, f in google(tool)["properties"].items() if f.get("nullable")}
    assert {*told} == {*tool.core.schema["properties"]} - {*short.core.schema.get("required", ())}


class Answer(BaseModel):
    number: int


@pytest.mark.parametrize(
    ("wanted", "strict"),
    [
        (None, False),
        (ToolStrategy(Answer), False),
        (ProviderStrategy(Answer), True),
        (Answer, True),
    ],
    ids=["none", "tool", "provider", "schema"],
)
def test_the_middleware_sees_that_the_api_will_be_strict(wanted, strict, shop):
    """And nothing is then required of a model that it has to make up."""
    middleware, seen = FsAgentMiddleware(shop), []
    model = pytest.importorskip("langchain_openai").ChatOpenAI(model="gpt-5", api_key="none")
    asked = ModelRequest(model=model, messages=[], tools=middleware.tools, response_format=wanted)
    middleware.wrap_model_call(asked, lambda request: seen.extend(request.tools) or ANSWERED)
    assert seen
    for tool in seen:
        short, sent = tool.core.entry.visible, openai(tool, strict=True)["properties"]
        for name in (name for name, field in short.items() if not field.is_required()):
            assert ({"type": "null"} in sent[name].get("anyOf", ())) is strict
    assert pickle.loads(pickle.dumps(seen[0])).name == seen[0].name


def test_gemini_is_told_nothing_that_it_does_not_know(shop, caplog):
    for tool in get_tools(shop, "workspace", strict=True):
        google(tool)
    assert not caplog.records


def test_gemini_binds_strict_tools_without_a_warning(shop, caplog):
    module = pytest.importorskip("langchain_google_genai")
    model = module.ChatGoogleGenerativeAI(model="gemini-2.5-flash", google_api_key="none")
    bound = model.bind_tools(get_tools(shop, "workspace", strict=True)).kwargs
    sent = model._prepare_request([HumanMessage("Go.")], **bound)
    assert "edit_lines" in str(sent)
    assert not caplog.records


class ChatOllama(ScriptedChatModel):
    """Named as LangChain's."""


def test_for_ollama_the_middleware_brings_tools_whose_parameters_have_types(shop):
    middleware, seen = FsAgentMiddleware(shop, strict=True), []
    asked = ModelRequest(model=ChatOllama(["Done."]), messages=[], tools=middleware.tools)
    middleware.wrap_model_call(asked, lambda request: seen.extend(request.tools) or ANSWERED)
    assert [tool.name for tool in seen] == [tool.name for tool in middleware.tools]
    for tool in seen:
        assert all("type" in one for one in tool.core.schema["properties"].values())


@pytest.mark.parametrize(("strict", "blank"), [(True, None), (True, ""), (False, "")])
def test_a_change_with_every_id_given_is_the_one_that_is_not_blank(strict, blank, shop):
    """Not strict: the schema that a provider makes strict on its own, with text for every ID."""
    tool = loaded(shop, "workspace", "edit_lines", strict=strict)
    schema = openai(tool, strict=True)
    items = schema["properties"]["changes"]["items"]
    change = filled(items, {"line_id": ID, "new_content": NEW}, blank)
    assert len(change) == 6
    sent = {"file_path": PRICES, "changes": [change]}
    jsonschema.validate(sent, schema)
    assert tool.core.call(sent).ok
