"""Checks a CycloneDX document with the schema of the version that it states: sbom.py FILE"""

import json
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from license_expression import get_spdx_licensing

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
document = json.loads(text)
version = SchemaVersion.from_version(document["specVersion"])
fault = JsonStrictValidator(version).validate_str(text)
if fault is not None:
    sys.exit(f"{sys.argv[1]} is not CycloneDX {document['specVersion']}: {fault}")

# The schema takes any text as an expression.
licensing = get_spdx_licensing()
for part in [document["metadata"]["component"], *document["components"]]:
    for licence in part.get("licenses", []):
        found = licensing.validate(licence["expression"])
        if found.errors:
            sys.exit(f"{part['name']}: {licence['expression']}: {'; '.join(found.errors)}")
