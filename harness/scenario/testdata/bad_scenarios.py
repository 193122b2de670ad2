#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""Writes bad_scenarios.txt and the tables of docs/SCENARIO.md from scenario.schema.json.

For every field of the schema: a wrong type, a value below and above its range, the field twice,
the field missing where it is required, and for every object one unknown field. What each must be
answered is kept in the same file and compared by bad_scenarios_test.cpp; PROMTACT_UPDATE_GOLDEN=1
makes that test write the answers, to be read before they are kept.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
SCHEMA = HERE.parent / "scenario.schema.json"
CASES = HERE / "bad_scenarios.txt"
DOCUMENT = HERE.parents[2] / "docs" / "SCENARIO.md"
BASE = [("seed", "0x4A2C"), ("nodes", 3), ("steps", 100)]
schema = json.loads(SCHEMA.read_text())


def resolve(field):
    """The field with what its $ref says, its own words first."""
    if "$ref" not in field:
        return field
    return {**schema["$defs"][field["$ref"].rsplit("/", 1)[1]], **field}


def types_of(field):
    if "oneOf" in field:
        return {kind for one in field["oneOf"] for kind in types_of(resolve(one))}
    if "enum" in field or "const" in field:
        return {"string"}
    return {field["type"]}


def wrong_type(field):
    taken = types_of(field)
    for kind, value in (("boolean", True), ("object", {}), ("array", [])):
        if kind not in taken:
            return value
    raise AssertionError(field)


def integer_part(field):
    for one in [field, *map(resolve, field.get("oneOf", []))]:
        if one.get("type") == "integer":
            return one
    return {}


def text(value):
    """JSON of a value; an object is a list of pairs, so that a name can stand twice."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        lines = ["    " + json.dumps(name) + ": " + text(item) for name, item in value]
        return "{\n" + ",\n".join(lines) + "\n  }"
    return json.dumps(value)


def document(pairs):
    lines = ["  " + json.dumps(name) + ": " + text(value) for name, value in pairs]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def variants(properties, required, pairs):
    """(what is wrong, pairs) for every field of an object of which pairs is a good one."""
    for name, field in properties.items():
        field = resolve(field)
        rest = [pair for pair in pairs if pair[0] != name]
        value = dict(pairs).get(name)
        yield f"{name} of a wrong type", rest + [(name, wrong_type(field))]
        number = integer_part(field)
        if "minimum" in number:
            yield f"{name} below its range", rest + [(name, number["minimum"] - 1)]
        if "maximum" in number:
            yield f"{name} above its range", rest + [(name, number["maximum"] + 1)]
        if "enum" in field or "const" in field:
            yield f"{name} of an unknown word", rest + [(name, "nothing")]
        if value is not None:
            yield f"{name} twice", pairs + [(name, value)]
        if name in required:
            yield f"{name} missing", rest
    yield "an unknown field", pairs + [("unknown", 1)]


def cases():
    for what, pairs in variants(schema["properties"], schema["required"], BASE):
        yield f"scenario: {what}", document(pairs)
    for group in ("workload", "expect"):
        definition = schema["$defs"][group]
        good = list(definition["examples"][0].items())
        for what, pairs in variants(definition["properties"], [], good):
            yield f"{group}: {what}", document(BASE + [(group, pairs)])
    for one in schema["properties"]["faults"]["items"]["oneOf"]:
        definition = resolve(one)
        kind = definition["properties"]["type"]["const"]
        good = list(definition["examples"][0].items())
        own = {name: field for name, field in definition["properties"].items()
               if kind == "split" or name not in ("start", "end")}  # the window is one for all
        for what, pairs in variants(own, definition["required"], good):
            faults = ',\n  "faults": [' + text(pairs) + "]\n}\n"
            yield f"{kind}: {what}", document(BASE)[:-3] + faults


def answers():
    """name -> the answer kept so far."""
    kept = {}
    if CASES.exists():
        for block in CASES.read_text().split("## ")[1:]:
            name, rest = block.split("\n", 1)
            kept[name] = rest.split("--\n", 1)[1]
    return kept


def rendered_cases():
    kept = answers()
    blocks = [f"## {name}\n{body}--\n{kept.get(name, '')}" for name, body in cases()]
    return "".join(blocks)


def unit_of(field):
    number = integer_part(field)
    plain = ", ".join(field["enum"]) if "enum" in field else "/".join(sorted(types_of(field)))
    words = field.get("x-unit", plain)
    if "minimum" in number and "maximum" in number and "oneOf" not in field:
        words += f", {number['minimum']} to {number['maximum']}"
    return words


def table(definition):
    rows = ["| field | unit and range | default | meaning |", "|---|---|---|---|"]
    for name, field in definition["properties"].items():
        field = resolve(field)
        if name in ("type", "start", "end") and "x-runners" in definition:
            continue
        if name in ("workload", "faults", "expect"):
            rows.append(f"| `{name}` | see below | none | |")
            continue
        default = json.dumps(field.get("default", "none")).strip('"') or "empty"
        if name in definition.get("required", []):
            default = "required"
        about = field.get("description", "")
        rows.append(f"| `{name}` | {unit_of(field)} | {default} | {about} |")
    return "\n".join(rows)


def rendered_tables():
    parts = ["## The file\n\n" + table(schema)]
    for group in ("workload", "expect"):
        definition = schema["$defs"][group]
        parts.append(f"## {group}\n\n{definition['description']}.\n\n" + table(definition))
    parts.append("## Faults\n\nEvery fault has `type`, and a window [`start`, `end`) in steps.")
    for one in schema["properties"]["faults"]["items"]["oneOf"]:
        definition = resolve(one)
        kind = definition["properties"]["type"]["const"]
        about = definition["description"]
        runners = " and ".join(definition["x-runners"])
        parts.append(f"### {kind}\n\n{about[0].upper()}{about[1:]}. Honoured by: {runners}.\n\n"
                     + table(definition))
    return "\n\n".join(parts) + "\n"


def rendered_document():
    head = DOCUMENT.read_text().split("<!-- generated -->")[0]
    return head + "<!-- generated -->\n\n" + rendered_tables()


def main():
    wanted = {CASES: rendered_cases(), DOCUMENT: rendered_document()}
    stale = [path for path, content in wanted.items()
             if not path.exists() or path.read_text() != content]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path} does not follow scenario.schema.json: run {sys.argv[0]}")
        sys.exit(1 if stale else 0)
    for path in stale:
        path.write_text(wanted[path])


main()
