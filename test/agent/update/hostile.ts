// A controller that answers what a test says, and an agent that asks it: its real requests, checks and downloads, over
// a fake host. Instead of the engine there is a note of what it was told.
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { askForRelease } from '../../../agent/controller-link/controller.ts'
import { openFakeHost } from '../../../agent/host/fake-host.ts'
import { type Manifest, manifestText, platformHere } from '../../../agent/protocol/release/manifest.ts'
import { makePatch } from '../../../agent/protocol/release/patch.ts'
import { signed } from '../../../agent/protocol/release/signature.ts'
import { agentPaths } from '../../../agent/protocol/wire.ts'
import type { Engine, NextProgram, UpdateStatus } from '../../../agent/update/engine.ts'
import { Updates } from '../../../agent/update/updates.ts'
import { newKey } from '../../release/signed.ts'
import { closedAtEnd } from '../../support/opened.ts'
import { temporary } from '../temporary.ts'

export const [ours, second, stranger] = [newKey(), newKey(), newKey()]
type Key = typeof ours

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
/** The same bytes in every run. */
export function programOf(seed: string, bytes = 2_000_000): Buffer {
  const blocks = Array.from({ length: bytes / 64 }, (_, n) => createHash('sha512').update(`${seed} ${n}`).digest())
  return Buffer.concat(blocks)
}
export const running = programOf('runs')
export const next = Buffer.concat([running.subarray(0, 500_000), Buffer.from('new'), running.subarray(500_000)])
export const file = `berth-${platformHere}.gz`

type Changes = Partial<Omit<Manifest, 'programs'>> & { program?: Partial<Manifest['programs'][number]> }
export function manifestOf({ program, ...changes }: Changes = {}, by: Key = ours): Manifest {
  return {
    ...{ format: 1, product: 'berth', version: '1.21.0', minimumVersion: '1.0.0', protocol: 1 },
    ...{ schema: '0181_words', date: '2026-11-27', keyId: by.key.id, notes: '' },
    programs: [{ platform: platformHere, file, sizeBytes: next.length, sha256: sha256(next), ...program }],
    billOfMaterials: { file: 'berth.cdx.json', sizeBytes: 1, sha256: '0'.repeat(64) },
    ...changes,
  }
}
/** The offer of a release, and of a patch of so many bytes. */
export function offerOf(manifest: Manifest, { by = ours, patchBytes }: { by?: Key; patchBytes?: number } = {}) {
  const text = manifestText(manifest)
  const signature = signed(text, by.secret).toString('base64')
  return {
    ...{ manifest: text, signature, trialSeconds: 100 },
    ...(patchBytes !== undefined && { patch: { sizeBytes: patchBytes } }),
  }
}
export const compressed = gzipSync(next)
export const patch = await makePatch(running, next)

type Answers = {
  offer: () => Response
  file?: (request: Request) => Response | Promise<Response>
  patch?: (request: Request) => Response
}

const limits = { windowMs: 400, leastBytes: 1000, tries: 3, pauseMs: 5, wholeMs: 20_000 }

/** An agent of 1.20.0 that trusts `ours` and `second`, and its controller. */
export function updating(answers: Answers, status: UpdateStatus = { state: 'none' }, parts: Partial<Engine> = {}) {
  const host = openFakeHost(temporary('update-host'), { hostname: 'node' })
  closedAtEnd(() => host.close())
  const dataDir = temporary('update')
  const requests: { path: string; range: string | null }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    // A body that ends with an error, as a test wants it.
    error: () => new Response(null, { status: 500 }),
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === agentPaths.challenge) return Response.json({ nonce: Bun.randomUUIDv7() })
      requests.push({ path: pathname, range: request.headers.get('range') })
      if (pathname === agentPaths.release) return answers.offer()
      const answer = pathname === `${agentPaths.release}/patch` ? answers.patch : answers.file
      return (await answer?.(request)) ?? new Response(null, { status: 404 })
    },
  })
  closedAtEnd(() => server.stop(true))
  const path = join(dataDir, 'running')
  writeFileSync(path, running)
  const started: (NextProgram & { trialSeconds: number; sha256Found: string })[] = []
  const engine: Engine = {
    ...{ updatedBy: 'itself', version: '1.20.0', running: path },
    status: () => status,
    start: async (given, trialSeconds) => {
      const found = sha256(Buffer.from(await Bun.file(given.path).arrayBuffer()))
      started.push({ ...given, trialSeconds, sha256Found: found })
    },
    accept: () => {},
    reject: () => {},
    giveUp: () => {},
    ...parts,
  }
  const updates = new Updates(engine, host, { dataDir, keys: [ours.key, second.key], limits })
  const told: (string | undefined)[] = []
  updates.onChange = () => void told.push(updates.facts().update?.state)
  const key: KeyObject = generateKeyPairSync('ed25519').privateKey
  const identity = { controller: `http://127.0.0.1:${server.port}`, nodeId: 'nod_1', name: 'node', fake: true, key }
  const folder = join(dataDir, 'update')
  return {
    updates,
    started,
    requests,
    told,
    /** A file that a kill of the agent left. */
    leave: (name: string, content: Uint8Array) => {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, name), content)
    },
    /** Files of the update that are there now. */
    left: () => (existsSync(folder) ? readdirSync(folder).sort() : []),
    look: async (options?: { wanted: boolean }) => {
      await updates.look((to, init) => askForRelease(identity, to, init), options)
      return updates.facts().update
    },
  }
}
