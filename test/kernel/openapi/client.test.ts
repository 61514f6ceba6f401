// A client that somebody else's generator makes from our document, compiled as strictly as TypeScript can.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import openapiTS, { astToString } from 'openapi-typescript'
import { registry } from '../../../src/app/features.ts'
import { openapi } from '../../../src/kernel/openapi/openapi.ts'

const dir = mkdtempSync(`${tmpdir()}/berth-client-`)
const document = JSON.stringify(openapi(registry, { version: '0', root: 'https://panel.test/api/v1' }))

beforeAll(async () => {
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noUnusedLocals: true,
    noEmit: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
  }
  await Bun.write(`${dir}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  await Bun.write(`${dir}/berth.ts`, astToString(await openapiTS(document, { alphabetize: true })))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Compiles `lines` beside the generated types; answers the errors in them. */
async function errorsIn(lines: string): Promise<string[]> {
  await Bun.write(`${dir}/client.ts`, `${head}\n${lines}\n`)
  const check = Bun.spawn([process.execPath, 'check', '--no-script', '-p', dir], { stdout: 'pipe', stderr: 'pipe' })
  const [out, complaints] = await Promise.all([new Response(check.stdout).text(), new Response(check.stderr).text()])
  const errors = `${out}\n${complaints}`.split('\n').filter((line) => line.includes('error TS'))
  expect([await check.exited, errors.length > 0]).toEqual(errors.length ? [expect.any(Number), true] : [0, false])
  return errors
}

/** A client that uses the types: path, method, body, and the response by its status. */
const head = `import type { components, operations, paths } from './berth.ts'
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never
type Body<Id extends keyof operations> = operations[Id] extends { requestBody: infer Sent } ? Json<Sent> : never
type Answer<Id extends keyof operations, Status extends keyof operations[Id]['responses']> = Json<
  operations[Id]['responses'][Status]
>
export type Used = [components, operations, paths]`

test('compiles, and types what is sent and what is answered', async () => {
  const errors = await errorsIn(`
    export const order: Body<'servers.create'> = {
      ownerId: 'usr_1', packageId: 'pkg_1', nodeGroupId: 'loc_1', imageId: 'img_1', access: { mode: 'password' },
    }
    export const words = (server: Answer<'servers.get', 200>): string =>
      server.status === 'running' ? server.hostname : server.owner.email ?? server.createdAt
    export const sum = (page: Answer<'servers.list-all', 200>): number =>
      page.data.reduce((memory, server) => memory + server.memoryMb, 0)
    export const next = (page: Answer<'jobs.list', 200>): string | null => page.nextCursor
    export const job = (done: Answer<'servers.suspend', 202>): string | null => done.jobId
    export const code = (refused: Answer<'servers.create', 409>): string => refused.error.code
    export const limited = (refused: Answer<'servers.get', 'default'>): string => refused.error.message
    export const path: keyof paths = '/servers/{id}'`)
  expect(errors).toEqual([])
}, 60_000)

test('refuses a field that there is not, a value that is none of the enum, and a body without what it ' +
  'requires', async () => {
  const errors = await errorsIn(`
    export const colour = (server: Answer<'servers.get', 200>): unknown => server.colour
    export const never = (server: Answer<'servers.get', 200>): boolean => server.status === 'melted'
    export const order: Body<'servers.create'> = { ownerId: 'usr_1' }
    export const path: keyof paths = '/nowhere'`)
  expect(errors.map((line) => /TS\d+/.exec(line)![0])).toEqual(['TS2339', 'TS2367', 'TS2739', 'TS2322'])
}, 60_000)
