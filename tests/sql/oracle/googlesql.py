"""Answers of GoogleSQL's reference evaluator (PyPI zetasql), in the form of tests/sql/answers.cc."""
import ctypes
import datetime
import math
import os
import re
import struct

from wasmtime import Config, Engine, Module
import zetasql.core.wasm_client as wasm_client
from zetasql.core.local_service import ZetaSqlLocalService
import zetasql.types as types
from zetasql.wasi import get_wasm_path
from zetasql.wasi._pb2.zetasql.local_service import local_service_pb2
from zetasql.wasi._pb2.zetasql.public import options_pb2, type_pb2

from answers import Answer

KINDS = {v.number: v.name[5:] for v in type_pb2.TypeKind.DESCRIPTOR.values}
SHOWN = {"DOUBLE": "FLOAT64", "FLOAT": "FLOAT32"}
CODES = {1: "CANCELLED", 2: "UNKNOWN", 3: "INVALID_ARGUMENT", 4: "DEADLINE_EXCEEDED", 5: "NOT_FOUND", 6: "ALREADY_EXISTS",
         8: "RESOURCE_EXHAUSTED", 9: "FAILED_PRECONDITION", 11: "OUT_OF_RANGE", 12: "UNIMPLEMENTED", 13: "INTERNAL"}
# Timestamps here have microseconds.
FINER_TIMES = ("FEATURE_TIMESTAMP_NANOS", "FEATURE_TIMESTAMP_PICOS", "FEATURE_TIMESTAMP_PRECISION")


def compile_module(path):
    """Compiles the evaluator to the machine's code, which takes half a minute, into a file."""
    config = Config()
    config.shared_memory = True
    with open(path + ".new", "wb") as file:
        file.write(Module.from_file(Engine(config), get_wasm_path()).serialize())
    os.rename(path + ".new", path)


def type_name(kind):
    name = SHOWN.get(KINDS[kind.type_kind], KINDS[kind.type_kind])
    if name == "ARRAY":
        return f"ARRAY<{type_name(kind.array_type.element_type)}>"
    if name == "STRUCT":
        fields = ((f.field_name + " " if f.field_name else "") + type_name(f.field_type) for f in kind.struct_type.field)
        return f"STRUCT<{', '.join(fields)}>"
    if name == "MAP":
        return f"MAP<{type_name(kind.map_type.key_type)}, {type_name(kind.map_type.value_type)}>"
    return name


def number(value, digits):
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"%.{digits}g" % value


def escaped(text, is_text):
    out = ""
    for c in text:
        code = ord(c)
        plain = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}.get(c)
        out += plain or (f"\\x{code:02x}" if code < 32 or code == 127 or (code >= 128 and not is_text) else c)
    return out


def timestamp(value):
    try:
        time = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
    except OverflowError:
        return "TIMESTAMP out of range"
    micros = time.microsecond
    fraction = "" if micros == 0 else (".%03d" % (micros // 1000) if micros % 1000 == 0 else ".%06d" % micros)
    text = "%04d-%02d-%02d %02d:%02d:%02d" % time.timetuple()[:6]
    return f'TIMESTAMP "{text}{fraction}+00"'


def value_text(kind, value):
    which = value.WhichOneof("value")
    if which is None:
        return "NULL"
    inside = getattr(value, which)
    name = KINDS[kind.type_kind]
    if name == "ARRAY":
        return "[" + ", ".join(value_text(kind.array_type.element_type, e) for e in inside.element) + "]"
    if name == "STRUCT":
        return "(" + ", ".join(value_text(f.field_type, e) for f, e in zip(kind.struct_type.field, inside.field)) + ")"
    if name == "MAP":
        entries = sorted(value_text(kind.map_type.key_type, e.key) + ": " + value_text(kind.map_type.value_type, e.value)
                         for e in inside.entry)
        return "{" + ", ".join(entries) + "}"
    if name == "BYTES":
        return 'b"' + escaped(inside.decode("latin-1"), False) + '"'
    if name == "STRING":
        return '"' + escaped(inside, True) + '"'
    if name == "BOOL":
        return "true" if inside else "false"
    if name == "FLOAT":
        return number(struct.unpack("f", struct.pack("f", inside))[0], 9)
    if name == "DOUBLE":
        return number(inside, 17)
    if name == "DATE":
        return 'DATE "%s"' % (datetime.date(1970, 1, 1) + datetime.timedelta(inside))
    if name == "TIMESTAMP":
        return timestamp(inside)
    return str(inside).replace("\n", " ")


class GoogleSql:
    """`module`: a file that compile_module wrote."""

    def __init__(self, module):
        self.module = module
        self.start()

    def start(self):
        class Compiled:
            @staticmethod
            def from_file(engine, _path):
                return Module.deserialize_file(engine, module)

        def write_bytes(client, pointer, data):
            ctypes.memmove(ctypes.addressof(client.memory.data_ptr().contents) + pointer, data, len(data))

        module = self.module
        wasm_client.Module = Compiled
        wasm_client.WasmClient.write_bytes = write_bytes
        self.service = ZetaSqlLocalService()
        self.options = types.LanguageOptions.maximum_features().to_proto()
        features = self.options.enabled_language_features
        for name in dir(options_pb2):
            if name.startswith("FEATURE") and name.endswith("MAP_TYPE") and getattr(options_pb2, name) not in features:
                features.append(getattr(options_pb2, name))
        for name in FINER_TIMES:
            if getattr(options_pb2, name, None) in features:
                features.remove(getattr(options_pb2, name))
        request = local_service_pb2.RegisterCatalogRequest()
        request.simple_catalog.name = "c"
        request.simple_catalog.builtin_function_options.language_options.CopyFrom(self.options)
        self.catalog = self.call("RegisterCatalog", request, local_service_pb2.RegisterResponse).registered_id

    def call(self, name, request, response):
        return self.service.wasm_client.call_grpc_func("ZetaSqlLocalService_" + name, request, response)

    def ask(self, statement):
        request = local_service_pb2.EvaluateQueryRequest(sql=statement, registered_catalog_id=self.catalog)
        request.options.language_options.CopyFrom(self.options)
        request.options.default_timezone = "UTC"
        request.options.error_message_mode = 2
        try:
            response = self.call("EvaluateQuery", request, local_service_pb2.EvaluateQueryResponse)
        except Exception as error:  # pylint: disable=broad-except  (the client raises several kinds)
            if type(error).__name__ == "Trap":
                self.start()  # a fault of the evaluator, whose memory is not to be trusted any longer
            code = CODES.get(getattr(error, "code", None), type(error).__name__)
            text = str(error)
            text = text.split("] ", 1)[1] if text.startswith("[") and "] " in text else text
            # Texts have the names of types that are of no use outside; the mode for others lacks functions.
            return Answer(code=code, text=re.sub(r"\b(DOUBLE|FLOAT)\b", lambda m: SHOWN[m[1]], text))
        columns = response.prepared.columns
        try:
            self.call("UnprepareQuery", local_service_pb2.UnprepareQueryRequest(
                prepared_query_id=response.prepared.prepared_query_id), None)
        except Exception:  # pylint: disable=broad-except  (it has no answer to parse)
            pass
        rows = [[value_text(c.type, v) for c, v in zip(columns, row.cell)] for row in response.content.table_data.row]
        names = [c.name or f"$col{i}" for i, c in enumerate(columns, 1)]  # the evaluator leaves out names that it made up
        return Answer(columns=[(name, type_name(c.type)) for name, c in zip(names, columns)], rows=rows)
