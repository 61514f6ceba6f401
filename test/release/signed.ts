// Releases with a key of the test, whose program is a few random bytes.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { unverified } from '../../agent/protocol/release/archive.ts'
import { platformHere } from '../../agent/protocol/release/manifest.ts'
import { releaseKeyFrom, signed } from '../../agent/protocol/release/signature.ts'
import { PROTOCOL } from '../../agent/protocol/wire.ts'
import { migrations } from '../../migrations/index.ts'
import { addSignature, makeRelease } from '../../src/app/release/make.ts'

export type TestKey = ReturnType<typeof newKey>
export function newKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string
  return { secret: privateKey, pem, key: releaseKeyFrom(pem) }
}

type Made = {
  by: TestKey
  version: string
  minimumVersion?: string
  notes?: string
  protocol?: number
  schema?: string
  date?: string
  programBytes?: number
  /** Its content; without it random bytes. */
  content?: Uint8Array
  platform?: string
  isSigned?: boolean
}

/** Writes a release to the path: signed, and of this program's protocol and schema, unless told otherwise. */
export function writeRelease(path: string, { by, isSigned = true, ...given }: Made): string {
  const program = `${path}.program`
  writeFileSync(
    program,
    Buffer.concat([Buffer.from('#!/bin/sh\n'), given.content ?? randomBytes(given.programBytes ?? 30_000)]),
  )
  const { version, protocol = PROTOCOL, schema = migrations.at(-1)!.name, platform = platformHere } = given
  makeRelease(path, {
    programs: [{ path: program, says: { version, protocol, schema, platform } }],
    bill: '{"bomFormat":"CycloneDX"}\n',
    minimumVersion: given.minimumVersion ?? '0.1.0',
    date: given.date ?? '2026-11-24',
    notes: given.notes ?? '',
    keyId: by.key.id,
  })
  rmSync(program)
  if (isSigned) addSignature(path, signed(unverified(path).text, by.secret), [by.key])
  return path
}
