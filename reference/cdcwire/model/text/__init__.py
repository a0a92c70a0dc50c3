"""The text form of events and tables: JSON without a number that carries a column value.

Testees answer in it, golden files state their meaning in it, and ``cdcwire decode`` prints it. A
column is NULL (``null``), its text alone, or an object with its type:

| kind | members other than ``type`` |
| --- | --- |
| most | ``value``: the text |
| bytes, and text that is not UTF-8 | ``bytes``: base64 |
| temporal kinds as a count | ``value`` and ``unit`` |
| timestamp, time of a known zone | ``zone`` too |
| enum, set | ``index`` and / or ``label`` |
| array, map, struct | ``items``, ``entries``, ``fields`` |
| a value that the producer declared unavailable | ``unavailable``: true |

Absent columns are left out. Reading takes the short forms too, under the type of the table.
"""

from cdcwire.model.text.events import event_from_json, event_to_json
from cdcwire.model.text.members import Json, TextFormError
from cdcwire.model.text.tables import column_to_json, table_from_json, table_to_json
from cdcwire.model.text.values import (
    float_to_text,
    image_to_json,
    value_from_json,
    value_to_json,
)

__all__ = [
    "Json",
    "TextFormError",
    "column_to_json",
    "event_from_json",
    "event_to_json",
    "float_to_text",
    "image_to_json",
    "table_from_json",
    "table_to_json",
    "value_from_json",
    "value_to_json",
]
