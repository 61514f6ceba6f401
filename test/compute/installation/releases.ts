// cloud-init as others release it. It is unpacked and never installed, so that it does not run on this machine.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { closedAtEnd } from '../../support/opened.ts'
import type { Files } from './rendered.ts'

export type Release = { version: string; directory: string }

/**
 * The releases in the directory that BERTH_CLOUD_INIT names, each under its version as its sources are; without it the
 * one that this machine's package archive has.
 */
export async function releases(): Promise<readonly Release[]> {
  const named = process.env['BERTH_CLOUD_INIT']
  if (named)
    return readdirSync(named)
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
      .map((version) => ({ version, directory: join(named, version) }))
  const work = mkdtempSync(join(tmpdir(), 'berth-cloud-init-'))
  closedAtEnd(() => rmSync(work, { recursive: true, force: true }))
  await $`apt-get download cloud-init && dpkg -x cloud-init_*.deb .`.cwd(work).quiet()
  const text = await $`dpkg-deb -f ${readdirSync(work).find((name) => name.endsWith('.deb'))} Version`.cwd(work).text()
  return [{ version: text.split('-')[0]!, directory: join(work, 'usr/lib/python3/dist-packages') }]
}

export type Given = { networks: Record<string, object>; userData: Record<string, object> }
/** The files that a release makes for each consumer, and the refusals of its schemas, each by the seed's name. */
export type Read = {
  networks: Record<string, Record<string, Files>>
  /** The hash and keys that a root which exists gets; `locked` is null where its lock is left alone. */
  root: Record<string, { password: string | null; locked: boolean | null; keys: string[] }>
  /** The modules of the stages init, config and final that run. */
  modules: Record<string, string[][]>
  schema: Record<string, string>
  networkSchema: Record<string, string>
}

/** Debian's Python, because the modules that cloud-init needs are Debian packages. */
export async function readBy({ directory }: Release, given: Given): Promise<Read> {
  const script = join(import.meta.dir, 'read-seeds.py')
  return await $`/usr/bin/python3 -W ignore ${script} ${directory} < ${Buffer.from(JSON.stringify(given))}`.json()
}

/** Is `version` at least `other`? */
export const isSince = (version: string, other: string) => version.localeCompare(other, 'en', { numeric: true }) >= 0
