"""The suite's facts about canal-json."""

from cdcwire_conformance.formats.canal_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.canal_json.mutations import RULES
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json
from cdcwire_conformance.suite import FormatSuite, SizeFacts

LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("canal-json: mysqlType", "canal-json: sqlType"),
            *("storage: names", "storage: separators", "storage: file numbers"),
            *("storage: index files", "storage: schema hash", "storage: versions"),
        }
    ),
    scalars=frozenset(
        {
            *("canal-json: members", "canal-json: tidb extension", "canal-json: watermarks"),
            *("canal-json: handle key only", "canal-json: primary key names"),
            *("canal-json: integer values", "canal-json: float values"),
            *("canal-json: decimal values", "canal-json: temporal values"),
            *("canal-json: text values", "canal-json: enum and set values"),
            *("canal-json: json values", "canal-json: vector values"),
        }
    ),
    mend=mend_json,
)


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#b0645b",
        note=(
            "`canal-json` has one row per message, so its figures are the same for every "
            "batch size."
        ),
        has_one_row_per_message=True,
    ),
)
