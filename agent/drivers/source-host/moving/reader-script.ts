// The program that reads a disk at its source and answers what it is asked: in Python where it has one, otherwise its
// shell with programs that every Linux has. It only reads. The path is quoted in the script, which the shell reads from
// its input, and is part of no command line of this node.
import { quoted } from '../../../protocol/shell-quote.ts'
import { prelude } from '../ssh/marks.ts'

/** The program of a hash reads more at a time: each block starts it anew. */
export const SHELL_BLOCK_BYTES = 4 << 20

/**
 * Requests: `map FIRST COUNT`, `read FIRST:COUNT …`. Answers, each with a head of 13 bytes, the kind, a number of 8 and
 * one of 4: `Z` these blocks are zeros; `H` their hashes follow; `D` their hashes and their bytes follow; `E` nothing
 * can be read from this byte on, a text follows; `F` the end of the answer, and the size of the disk by now. A thread
 * reads and hashes while the other one sends.
 */
const PYTHON = String.raw`
import errno, hashlib, os, struct, sys, threading
try:
    import queue
except ImportError:
    import Queue as queue
BLOCK = int(sys.argv[2])
CHUNK = max(1, (1 << 20) // BLOCK)
SEEK_DATA = 3
fd = os.open(sys.argv[1], os.O_RDONLY)
size = os.lseek(fd, 0, 2)
sending = queue.Queue(8)
zeros = {}

class Broken(Exception):
    pass

def send_all():
    while True:
        parts = sending.get()
        if parts is None:
            return
        for part in parts:
            view = memoryview(part)
            while len(view):
                view = view[os.write(1, view):]

def head(kind, number, count):
    return struct.pack('>cQI', kind, number, count)

def hash_of_zeros(length):
    if length not in zeros:
        zeros[length] = hashlib.sha1(b'\0' * length).digest()
    return zeros[length]

def data_from(at):
    try:
        return os.lseek(fd, at, SEEK_DATA)
    except OSError as error:
        return size if error.errno == errno.ENXIO else at

def bytes_at(at, length):
    os.lseek(fd, at, 0)
    found = []
    while length:
        try:
            part = os.read(fd, length)
        except OSError as error:
            raise Broken(at, str(error))
        if not part:
            raise Broken(at, 'it ends there')
        found.append(part)
        at += len(part)
        length -= len(part)
    return found[0] if len(found) == 1 else b''.join(found)

def tell(first, hashes, data, wants_data):
    if wants_data:
        sending.put([head(b'D', first, len(hashes)), b''.join(hashes), data])
    else:
        sending.put([head(b'H', first, len(hashes)), b''.join(hashes)])

def tell_chunk(first, data, wants_data):
    view = memoryview(data)
    hashes, begun = [], 0
    for at in range(0, len(data), BLOCK):
        part = view[at:at + BLOCK]
        digest = hashlib.sha1(part).digest()
        if digest != hash_of_zeros(len(part)):
            if not hashes:
                begun = at
            hashes.append(digest)
            continue
        if hashes:
            tell(first + begun // BLOCK, hashes, view[begun:at], wants_data)
            hashes = []
        sending.put([head(b'Z', first + at // BLOCK, 1)])
    if hashes:
        tell(first + begun // BLOCK, hashes, view[begun:], wants_data)

def answer(first, count, wants_data):
    at, end = first * BLOCK, min(size, (first + count) * BLOCK)
    while at < end:
        skipped = (min(data_from(at), end + BLOCK - 1) - at) // BLOCK
        if skipped:
            sending.put([head(b'Z', at // BLOCK, skipped)])
            at += skipped * BLOCK
            continue
        data = bytes_at(at, min(CHUNK * BLOCK, end - at))
        tell_chunk(at // BLOCK, data, wants_data)
        at += len(data)

def requests():
    rest = b''
    while True:
        part = os.read(0, 65536)
        if not part:
            return
        lines = (rest + part).split(b'\n')
        rest = lines.pop()
        for line in lines:
            yield line.decode('ascii').split(' ')

def work():
    try:
        for words in requests():
            try:
                if words[0] == 'map':
                    answer(int(words[1]), int(words[2]), False)
                for run in words[1:] if words[0] == 'read' else []:
                    first, count = run.split(':')
                    answer(int(first), int(count), True)
            except Broken as error:
                text = error.args[1].encode('ascii', 'replace')[:300]
                sending.put([head(b'E', error.args[0], len(text)), text])
            sending.put([head(b'F', os.lseek(fd, 0, 2), 0)])
    finally:
        sending.put(None)

os.write(1, ('python %d %d\n' % (BLOCK, size)).encode('ascii'))
thread = threading.Thread(target=work)
thread.daemon = True
thread.start()
send_all()
`

/**
 * Requests: `map FIRST COUNT`: a line for each block, as sha1sum writes it. `read FIRST COUNT BYTES`: so many bytes,
 * whatever happens. Each answer ends with a line: the exit code of dd, and the size of the disk by now.
 */
const SHELL = String.raw`
size_now() { if [ -b "$path" ]; then blockdev --getsize64 "$path"; else stat -L -c %s -- "$path"; fi; }
serve() {
  printf 'shell %s %s\n' "$block" "$(size_now)"
  exec 3>&1
  while IFS=' ' read -r word first count bytes; do
    case $word in
    map) code=$({ { dd if="$path" bs="$block" skip="$first" count="$count" || echo 1 >&4; } |
      split -b "$block" --filter=sha1sum >&3; } 4>&1) ;;
    read) code=$({ { dd if="$path" bs="$block" skip="$first" count="$count" || echo 1 >&4; cat /dev/zero; } |
      head -c "$bytes" >&3; } 4>&1) ;;
    esac
    printf '\n%s %s\n' "${'$'}{code:-0}" "$(size_now)"
  done
}
`

/**
 * Section `reader` begins with a line: the kind of the reader, its bytes of a block, and the size of the disk. `isOff`:
 * nothing writes it, and the page cache is not trusted for what a guest wrote past it.
 */
export const readerScript = (nonce: string, path: string, blockBytes: number, isOff: boolean) => `${prelude(nonce)}
path=${quoted(path)}
block=${Math.max(blockBytes, SHELL_BLOCK_BYTES)}
program=${quoted(PYTHON)}
${SHELL}
main() {
  ${isOff ? 'dd if="$path" iflag=nocache count=0 </dev/null 2>/dev/null' : ':'}
  for python in python3 python python2 /usr/libexec/platform-python; do
    command -v "$python" >/dev/null 2>&1 || continue
    "$python" -c 'import hashlib, threading; hashlib.sha1(b"")' </dev/null >/dev/null 2>&1 || continue
    mark reader
    exec "$python" -c "$program" "$path" ${blockBytes}
  done
  mark reader
  serve
}
main
`
