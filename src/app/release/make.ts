// Making the file of a release: the program that was built, what it says of itself, and its bill of materials.
import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import {
  archiveEnd,
  MANIFEST_FILE,
  memberFrame,
  SIGNATURE_FILE,
  unverified,
} from '../../../agent/protocol/release/archive.ts'
import { type Manifest, manifestFrom, manifestText } from '../../../agent/protocol/release/manifest.ts'
import { type ReleaseKey, verified } from '../../../agent/protocol/release/signature.ts'

/** The answer of a program to `berth version --json`. */
export type Described = { version: string; protocol: number; schema: string; platform: string }

export const BILL_FILE = 'berth.cdx.json'
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
const described = (file: string, content: Uint8Array) => ({
  file,
  sizeBytes: content.length,
  sha256: sha256(content),
})

type Making = {
  /** A built program for each platform, with what it says of itself. */
  programs: readonly { path: string; says: Described }[]
  bill: string
  minimumVersion: string
  date: string
  notes: string
  keyId: string
  /** Of gzip. Without it the smallest file. */
  level?: 1 | 9
}
/** Writes the release without its signature. Answers its manifest. Throws an Error in words where programs differ. */
export function makeRelease(to: string, { programs, bill, level = 9, ...given }: Making): Manifest {
  const [first] = programs
  if (!first) throw new Error('a release needs a program')
  for (const { says } of programs)
    for (const field of ['version', 'protocol', 'schema'] as const)
      if (says[field] !== first.says[field])
        throw new Error(`the programs differ in their ${field}: ${first.says[field]} and ${says[field]}`)
  const { version, protocol, schema } = first.says
  const read = programs.map(({ path, says }) => ({ platform: says.platform, content: readFileSync(path) }))
  const billed = Buffer.from(bill)
  const manifest = manifestFrom(
    JSON.stringify({
      format: 1,
      product: 'berth',
      version,
      minimumVersion: given.minimumVersion,
      protocol,
      schema,
      date: given.date,
      keyId: given.keyId,
      notes: given.notes,
      programs: read.map(({ platform, content }) => ({ platform, ...described(`berth-${platform}.gz`, content) })),
      billOfMaterials: described(BILL_FILE, billed),
    }),
  )
  writeArchive(to, [
    [MANIFEST_FILE, Buffer.from(manifestText(manifest))],
    ...read.map(({ platform, content }) => [`berth-${platform}.gz`, gzipSync(content, { level })] as const),
    [BILL_FILE, billed],
  ])
  return manifest
}

/** Puts the signature into the release, where it counts for one of the keys. Throws `ReleaseRefused`. */
export function addSignature(path: string, signature: Buffer, keys: readonly ReleaseKey[]) {
  const { text, members } = unverified(path)
  verified(text, signature, keys)
  const content = readFileSync(path)
  const rest = members.filter(({ name }) => name !== MANIFEST_FILE && name !== SIGNATURE_FILE)
  writeArchive(path, [
    [MANIFEST_FILE, Buffer.from(text)],
    [SIGNATURE_FILE, signature],
    ...rest.map(({ name, offset, sizeBytes }) => [name, content.subarray(offset, offset + sizeBytes)] as const),
  ])
}

/** The file is complete, or as it was before. */
function writeArchive(path: string, members: readonly (readonly [name: string, content: Uint8Array])[]) {
  const part = `${path}.part`
  rmSync(part, { force: true })
  const file = openSync(part, 'wx', 0o644)
  try {
    const add = (bytes: Uint8Array) => {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    }
    for (const [name, content] of members) {
      const { header, padding } = memberFrame(name, content.length)
      add(header)
      add(content)
      add(padding)
    }
    add(archiveEnd())
  } finally {
    closeSync(file)
  }
  renameSync(part, path)
}
