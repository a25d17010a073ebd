"""PyTorch's own files: a zip archive with a pickle of the structure, and one uncompressed record for each storage."""

from __future__ import annotations

import io
import zipfile
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from ..blocks import Memory
from ..source import Source
from .names import Storage, StorageType, unpickle
from .unpickle import short_repr

if TYPE_CHECKING:
    from zipfile import ZipInfo

RECORD = b"PK\x03\x04"              # the beginning of a record in the archive
LOCAL = 30                                           # bytes of a record's own header, before its name
SCRIPT = "it is a TorchScript archive, which holds code. In PyTorch: torch.save(torch.jit.load(f).state_dict(), g)"


class Archive:
    """The records of one archive, by name without the folder that all are in; their checksums are always compared."""

    def __init__(self, source: Source) -> None:
        self.source = source
        try:
            with zipfile.ZipFile(source.file) as archive:
                records = archive.infolist()
        except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise ValueError(f"the zip archive is truncated or damaged ({error})") from None
        pickle_name = next((r.filename for r in records if r.filename.endswith("data.pkl")), None)
        if pickle_name is None:
            numpy = any(r.filename.endswith(".npy") for r in records)
            raise ValueError("it is a zip archive, but none of PyTorch's: it has no data.pkl" +
                             (". numpy.load() reads it" if numpy else ""))
        prefix = pickle_name[:-len("data.pkl")]
        self.records: dict[str, ZipInfo] = {r.filename[len(prefix):]: r for r in records if r.filename.startswith(prefix)}
        if len(self.records) < len(records):
            raise ValueError("the archive has records twice, or beside its one folder")
        if "constants.pkl" in self.records:
            raise UnpicklingError(SCRIPT)
        if sum(r.file_size for r in records) > source.size:
            raise ValueError("the archive's records are longer than the archive")
        self.checked: bool = any(r.CRC for r in records)  # PyTorch can omit checksums: all are 0 then

    def find(self, name: str, order: str = "little") -> Memory:
        """The position of a record's bytes. ValueError if there is none of that name."""
        record = self.records.get(name)
        if record is None:
            raise ValueError(f"the archive has no record {name!r}")
        if record.compress_type != zipfile.ZIP_STORED or record.flag_bits & 1 or record.compress_size != record.file_size:
            raise ValueError(f"the record {name!r} is compressed or encrypted, which PyTorch's are not: it was packed anew")
        header = self.source.read(record.header_offset, LOCAL)
        if header[:4] != RECORD:
            raise ValueError(f"the record {name!r} does not start at the archive's offset")
        start = (record.header_offset + LOCAL + int.from_bytes(header[26:28], "little")
                 + int.from_bytes(header[28:30], "little"))
        return Memory(self.source, start, record.file_size, order, record.CRC if self.checked else None)

    def read(self, name: str) -> bytes:
        """A record's bytes, which are checked even if arrays are mapped."""
        return self.find(name).content()


def load(source: Source) -> Any:
    """The object that torch.save() wrote."""
    archive = Archive(source)
    order = archive.read("byteorder").decode("ascii", "replace") if "byteorder" in archive.records else "little"
    if order not in ("little", "big"):
        raise ValueError(f"its byte order is {short_repr(order)}")
    memories: dict[str, Memory] = {}

    def storage(identity: Any) -> Storage:
        """The storage that a persistent id names."""
        if type(identity) is not tuple or len(identity) != 5 or identity[0] != "storage":
            raise UnpicklingError(f"it refers to {short_repr(identity)}, which is not a storage")
        _, kind, key, _, count = identity
        if not isinstance(kind, StorageType) or not isinstance(key, str) or type(count) is not int:
            raise ValueError(f"it refers to the storage {short_repr(identity)}")
        if key not in memories:
            memories[key] = archive.find(f"data/{key}", order)
        if memories[key].count != count * kind.size:
            raise ValueError(f"the storage {key!r} should have {count * kind.size} bytes, but has {memories[key].count}")
        return Storage(memories[key], kind.kind)

    return unpickle(io.BytesIO(archive.read("data.pkl")), storage)
