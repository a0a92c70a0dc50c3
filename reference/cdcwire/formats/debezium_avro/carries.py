"""The event fields and kinds that Debezium's Avro carries under the default options."""

from __future__ import annotations

from cdcwire.connect.carries import DEBEZIUM_KINDS
from cdcwire.debezium.carries import DEBEZIUM_FIELDS
from cdcwire.model.carries import Carries

CARRIES = Carries(fields=DEBEZIUM_FIELDS, kinds=DEBEZIUM_KINDS)
