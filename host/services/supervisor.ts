// On a machine without systemd one process starts the services, starts each again when it ends, and stops them. It
// takes its commands over a socket file that root alone can open.
import { mkdirSync, openSync, rmSync } from 'node:fs'
import { makeDirectory } from '../machine/machine.ts'
import type { Paths } from '../machine/paths.ts'
import { launches, launchOf } from './launch.ts'
import { lock } from './listening.ts'
import { watchRequests } from './requests.ts'
import { Service } from './service.ts'

export const actions = ['start', 'stop', 'restart', 'status'] as const
export type Action = (typeof actions)[number]
/** How a command to a service ended. `words` is empty where there is nothing to say. */
export type Told = { isDone: boolean; words: string }

/** The status of an answer for which nothing was done: it is on its way out. */
export const ENDING = 503
export const socketOf = ({ run }: Paths) => `${run}/supervisor.sock`
const CAP_LOGS_EVERY_MS = 30_000
const MOST_LOG_BYTES = 10 << 20

type Options = { all?: typeof launches; mostLogBytes?: number; capLogsEveryMs?: number; stopMs?: number }
/** For those who have connected and not asked yet when it ends. */
const DRAIN_MS = 100

/**
 * Runs until nothing is to be kept any more. Services that an earlier supervisor left running are taken over. Resolves
 * soon where another supervisor runs.
 */
export async function supervise(
  paths: Paths,
  { all = launches, mostLogBytes = MOST_LOG_BYTES, capLogsEveryMs = CAP_LOGS_EVERY_MS, stopMs }: Options = {},
) {
  makeDirectory(paths.run)
  mkdirSync(paths.logs, { recursive: true })
  const lockFile = openSync(`${paths.run}/supervisor.lock`, 'a', 0o600)
  // One that is just ending keeps it for a moment.
  for (let i = 0; !lock(lockFile); i++) {
    if (i === 10) return
    await Bun.sleep(50)
  }
  const services = new Map(
    Object.keys(all).map((name) => [
      name,
      new Service(name, {
        launch: () => launchOf(paths, name, all),
        dir: paths.run,
        log: `${paths.logs}/${name}.log`,
        mostLogBytes,
        ...(stopMs && { stopMs }),
      }),
    ]),
  )
  for (const service of services.values()) service.adopt()
  const capping = setInterval(() => {
    for (const service of services.values()) service.capLog()
  }, capLogsEveryMs)
  const requests = watchRequests(paths)
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let isEnding = false
  /** Hides its socket, and tells those who have found it to ask the next supervisor. */
  const endIfIdle = async () => {
    if (isEnding || [...services.values()].some((service) => service.isBusy)) return
    isEnding = true
    rmSync(socketOf(paths), { force: true })
    await Bun.sleep(DRAIN_MS)
    end()
  }
  rmSync(socketOf(paths), { force: true })
  const before = process.umask(0o177)
  const server = Bun.serve({
    unix: socketOf(paths),
    // A stop may take half a minute. Bun heeds this for a socket file too, which its types do not say.
    ...({ idleTimeout: 0 } as object),
    async fetch(request) {
      if (isEnding) return new Response(null, { status: ENDING })
      const [, action = '', name = ''] = new URL(request.url).pathname.split('/')
      // One of before this could not put an upgrade on or back.
      if (action === 'knows') return Response.json({ isDone: name === 'before-start', words: '' } satisfies Told)
      const service = services.get(name)
      const told = service
        ? await tell(service, action as Action).catch((error: Error) => ({
            isDone: false,
            words: `${name}: ${error.message}`,
          }))
        : { isDone: false, words: `There is no service ${name}.` }
      // Also where the service ends later than the stop waits.
      if (action === 'stop') void service?.ended().then(endIfIdle)
      return Response.json(told)
    },
  })
  process.umask(before)
  await ended
  clearInterval(capping)
  requests.stop()
  await server.stop(true)
}

async function tell(service: Service, action: Action): Promise<Told> {
  switch (action) {
    case 'start':
      service.start()
      return { isDone: true, words: '' }
    case 'stop': {
      const isDone = await service.stop()
      return { isDone, words: isDone ? '' : `${service.name} does not stop` }
    }
    case 'restart': {
      const isDone = await service.restart()
      return { isDone, words: isDone ? '' : `${service.name} does not stop` }
    }
    case 'status':
      return { isDone: service.isBusy, words: `${service.name} ${service.isBusy ? 'runs' : 'does not run'}` }
  }
}
