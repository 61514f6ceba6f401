// The variables of UEFI and the state of an emulated TPM, which the firmware of a vm has stored, in one file of a fixed
// size, so that they travel between nodes as a disk does. The file comes from another node, which may be hostile.
import { createHash } from 'node:crypto'
import {
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type Static, Type as t } from 'typebox'
import { Value } from 'typebox/value'
import { Failure } from '../../failure.ts'
import { makePassage } from '../../host/directories.ts'
import type { Volume } from '../../protocol/wire.ts'
import type { ServedVolume } from '../transfer/transfer.ts'
import { uuidOf } from './domain-xml.ts'
import { tpmPath, variablesPath } from './firmware.ts'

/** The variables take 528 KiB, and the state of a TPM some kB. */
const SIZE_BYTES = 4 << 20
const MOST_BYTES = { variables: 2 << 20, tpm: 1 << 20 } as const
type Part = keyof typeof MOST_BYTES
const MAGIC = 'BERTHFW1'
const HEADER_BYTES = 4096
const Header = t.Object({
  parts: t.Array(t.Object({ name: t.Enum(['variables', 'tpm']), bytes: t.Integer({ minimum: 0 }) }), { maxItems: 2 }),
  sha256: t.String({ pattern: '^[0-9a-f]{64}$' }),
})

/** The states of firmware that are on their way to and from this node. Every method converges. */
export interface FirmwareStates {
  /** On the source, of a vm that is off: writes what is stored of it. */
  save(transfer: string, volume: Volume): Promise<ServedVolume>
  /** On the target: the empty file that the source fills; one that is there stays. */
  expect(transfer: string): Promise<ServedVolume>
  /** On the target: what has come is what the vm has at its next start. Throws `checksum_differs`. */
  place(transfer: string, volume: Volume): Promise<void>
  forget(transfer: string): Promise<void>
}

export class FirmwareFiles implements FirmwareStates {
  constructor(private dir: string) {}

  private path = (transfer: string) => join(this.dir, `${transfer}.firmware`)
  private served = (path: string): ServedVolume => ({
    disk: { kind: 'file', format: 'raw', path },
    sizeBytes: SIZE_BYTES,
  })

  async save(transfer: string, volume: Volume) {
    const path = this.path(transfer)
    write(path, packed(filesOf(volume)))
    return this.served(path)
  }

  async expect(transfer: string) {
    const path = this.path(transfer)
    if (!existsSync(path)) write(path, [])
    return this.served(path)
  }

  async place(transfer: string, volume: Volume) {
    const files = filesOf(volume)
    for (const [name, bytes] of partsIn(readFileSync(this.path(transfer)))) {
      const path = files[name]
      // As libvirt makes it: the emulator, which is not root, passes through to the directory of its own.
      const own = dirname(dirname(path))
      if (name === 'tpm') for (const passage of [dirname(own), own]) makePassage(passage)
      write(path, [bytes], bytes.length)
      // libvirt gives QEMU the variables at each start, and the emulator of a TPM nothing that is there already.
      if (name === 'tpm') for (const owned of [dirname(path), path]) chownSync(owned, ...ownerOfTpms())
    }
  }

  async forget(transfer: string) {
    rmSync(this.path(transfer), { force: true })
  }
}

const filesOf = (volume: Volume): Record<Part, string> => ({
  variables: variablesPath(volume),
  tpm: join(tpmPath(uuidOf(volume.workload)), 'tpm2', 'tpm2-00.permall'),
})

/** The user and the group of the emulator: as libvirt's settings say, else `tss`, else root. */
function ownerOfTpms(): [number, number] {
  const [settings, users, groups] = ['/etc/libvirt/qemu.conf', '/etc/passwd', '/etc/group'].map((path) =>
    existsSync(path) ? readFileSync(path, 'utf8') : '',
  ) as [string, string, string]
  const idIn = (list: string, setting: string) => {
    const name = new RegExp(`^\\s*${setting}\\s*=\\s*"([^"]+)"`, 'm').exec(settings)?.[1] ?? 'tss'
    if (/^\+?\d+$/.test(name)) return Number(name)
    const line = list.split('\n').find((one) => one.startsWith(`${name}:`))
    return Number(line?.split(':')[2] ?? 0)
  }
  return [idIn(users, 'swtpm_user'), idIn(groups, 'swtpm_group')]
}

/** Whole or not at all. */
function write(path: string, chunks: readonly Uint8Array[], sizeBytes = SIZE_BYTES) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const part = `${path}.part`
  const file = openSync(part, 'w', 0o600)
  try {
    for (const chunk of chunks) writeSync(file, chunk)
    ftruncateSync(file, sizeBytes)
  } finally {
    closeSync(file)
  }
  renameSync(part, path)
}

/** The contents of those files that are there, behind a header of `HEADER_BYTES`. */
export function packed(files: Readonly<Record<Part, string>>): Uint8Array[] {
  const found = (Object.keys(MOST_BYTES) as Part[])
    .filter((name) => existsSync(files[name]))
    .map((name) => ({ name, data: readFileSync(files[name]) }))
    .filter(({ name, data }) => data.length > 0 && data.length <= MOST_BYTES[name])
  const sha256 = createHash('sha256')
  for (const { data } of found) sha256.update(data)
  const header: Static<typeof Header> = {
    parts: found.map(({ name, data }) => ({ name, bytes: data.length })),
    sha256: sha256.digest('hex'),
  }
  return [Buffer.from(`${MAGIC}${JSON.stringify(header)}`.padEnd(HEADER_BYTES)), ...found.map(({ data }) => data)]
}

/** The parts of a file that `packed` has written; none in one that nobody has filled. Throws `checksum_differs`. */
export function partsIn(file: Buffer): [Part, Uint8Array][] {
  if (file.subarray(0, HEADER_BYTES).every((byte) => byte === 0)) return []
  const wrong = (words: string) => new Failure('checksum_differs', `what came of its firmware ${words}`)
  const text = file.subarray(0, HEADER_BYTES).toString()
  let header: unknown
  try {
    header = text.startsWith(MAGIC) ? JSON.parse(text.slice(MAGIC.length)) : undefined
  } catch {
    header = undefined
  }
  if (!Value.Check(Header, header)) throw wrong('has no header')
  const sha256 = createHash('sha256')
  let at = HEADER_BYTES
  const parts = header.parts.map(({ name, bytes }): [Part, Uint8Array] => {
    if (bytes > MOST_BYTES[name] || at + bytes > file.length) throw wrong(`has ${bytes} bytes of ${name}`)
    const data = file.subarray(at, at + bytes)
    at += bytes
    sha256.update(data)
    return [name, data]
  })
  if (sha256.digest('hex') !== header.sha256) throw wrong('is not what was sent')
  if (new Set(parts.map(([name]) => name)).size !== parts.length) throw wrong('has a part twice')
  return parts
}
