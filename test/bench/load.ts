// A closed loop against one address: every connection sends its next call when it has the answer to the last. With wrk
// when it is there, which costs the machine least, otherwise with a second bun process.
//
//   bun test/bench/load.ts PLAN-FILE        (the second process)
import { start, tempDir } from './cleanup.ts'
import { script } from './controller.ts'
import { percentile } from './words.ts'

/** `targets` and `tokens` take turns. `#` in a body is a number that is never the same twice. */
export type Plan = {
  url: string
  method: 'GET' | 'POST'
  targets: { path: string; body?: string }[]
  tokens: readonly string[]
  connections: number
  seconds: number
  first: number
}
export type Result = {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  refused: number
  broken: number
}

export const client = Bun.which('wrk') ? 'wrk' : 'a closed loop in bun (wrk is not installed)'

export async function load(plan: Plan): Promise<Result> {
  const child = Bun.which('wrk') ? await withWrk(plan) : await withBun(plan)
  const out = await new Response(child.stdout as ReadableStream).text()
  await child.exited
  const line = out
    .trim()
    .split('\n')
    .findLast((l) => l.startsWith('{'))
  if (!line) throw new Error(`the load client said nothing that can be read:\n${out}`)
  return JSON.parse(line) as Result
}

/** LuaJIT inside wrk: one thread, so that numbers in bodies are unique. */
const lua = `
local function lines(file) local all = {} for line in io.lines(file) do all[#all + 1] = line end return all end
local tokens, paths = lines(os.getenv('BENCH_TOKENS')), lines(os.getenv('BENCH_PATHS'))
local bodies = lines(os.getenv('BENCH_BODIES'))
local n, method = tonumber(os.getenv('BENCH_FIRST')), os.getenv('BENCH_METHOD')
request = function()
  n = n + 1
  local i = n % #paths + 1
  local body = bodies[i]
  local headers = { ['Authorization'] = 'Bearer ' .. tokens[n % #tokens + 1] }
  if body and body ~= '' then
    headers['Content-Type'] = 'application/json'
    body = body:gsub('#', tostring(n))
  else body = nil end
  return wrk.format(method, paths[i], headers, body)
end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"perSecond":%f,"p50Ms":%f,"p99Ms":%f,"maxMs":%f,"refused":%d,"broken":%d}\\n',
    summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, latency.max / 1000,
    e.status, e.connect + e.read + e.write + e.timeout))
end
`

async function withWrk({ url, method, targets, tokens, connections, seconds, first }: Plan) {
  const file = async (name: string, lines: readonly string[]) => {
    await Bun.write(`${tempDir}/${name}`, `${lines.join('\n')}\n`)
    return `${tempDir}/${name}`
  }
  const env = {
    BENCH_TOKENS: await file('tokens', tokens),
    BENCH_PATHS: await file(
      'paths',
      targets.map((t) => t.path),
    ),
    BENCH_BODIES: await file(
      'bodies',
      targets.map((t) => t.body ?? ''),
    ),
    BENCH_METHOD: method,
    BENCH_FIRST: String(first),
  }
  return start(
    ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', await file('load.lua', [lua]), url],
    {
      env,
      stdout: 'pipe',
    },
  )
}

async function withBun(plan: Plan) {
  await Bun.write(`${tempDir}/plan.json`, JSON.stringify(plan))
  return start(script('load.ts', `${tempDir}/plan.json`), { stdout: 'pipe' })
}

async function loop({ url, method, targets, tokens, connections, seconds, first }: Plan): Promise<Result> {
  const took: number[] = []
  let [n, refused, broken] = [first, 0, 0]
  const began = performance.now()
  const until = began + seconds * 1000
  const connection = async () => {
    while (performance.now() < until) {
      const { path, body } = targets[++n % targets.length]!
      const headers = {
        Authorization: `Bearer ${tokens[n % tokens.length]}`,
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      }
      const at = performance.now()
      try {
        const response = await fetch(url + path, {
          method,
          headers,
          ...(body ? { body: body.replaceAll('#', String(n)) } : {}),
        })
        await response.arrayBuffer()
        if (response.status >= 400) refused++
      } catch {
        broken++
      }
      took.push(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  const perSecond = (took.length / (performance.now() - began)) * 1000
  return {
    requests: took.length,
    perSecond,
    p50Ms: percentile(took, 50),
    p99Ms: percentile(took, 99),
    maxMs: Math.max(...took),
    refused,
    broken,
  }
}

if (import.meta.main) {
  console.log(JSON.stringify(await loop(await Bun.file(process.argv[2]!).json())))
  process.exit(0)
}
