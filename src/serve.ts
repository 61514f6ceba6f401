// `berth serve`: the controller as a process.
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { configFrom, SettingError } from './config.ts'
import { createController } from './controller.ts'
import { log } from './kernel/log.ts'
import { powerCutAt } from './power-cut.ts'
import { VERSION } from './version.ts'

export const socketPath = (dataDir: string) => `${dataDir}/admin.sock`

/** Answers the exit code when the controller has stopped. */
export async function serve(): Promise<number> {
  let config: ReturnType<typeof configFrom>
  try {
    config = configFrom(process.env)
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    console.error(`berth: ${error.message}`)
    return 2
  }
  mkdirSync(`${config.dataDir}/incoming`, { recursive: true, mode: 0o700 })
  const controller = await createController({ config, seams: powerCutAt(process.env['BERTH_POWER_CUT'], config.dataDir) })
  const server = Bun.serve({
    hostname: config.listen.hostname,
    port: config.listen.port,
    // Ours answers 413 first, with an error body; this is the backstop.
    maxRequestBodySize: 64 << 20,
    idleTimeout: 30,
    fetch: controller.fetch as any,
    websocket: controller.websocket as any,
    ...(config.tls ? { tls: { cert: Bun.file(config.tls.cert), key: Bun.file(config.tls.key) } } : {}),
  })
  const socket = socketPath(config.dataDir)
  if (existsSync(socket)) rmSync(socket)
  // An operation may take its time: sealing everything anew does.
  const admin = Bun.serve({ unix: socket, idleTimeout: 0, fetch: controller.fetchLocal } as any)
  chmodSync(socket, 0o600)
  controller.start()
  log.info('Berth is up', {
    version: VERSION,
    listen: `${server.hostname}:${server.port}`,
    publicUrl: config.publicUrl,
    dataDir: config.dataDir,
  })

  await new Promise<void>((stop) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop())
  })
  log.info('stopping: changes are refused, reads go on')
  await controller.stop(async () => {
    await Promise.race([Promise.all([server.stop(), admin.stop()]), Bun.sleep(3000)])
    await Promise.all([server.stop(true), admin.stop(true)])
  })
  log.info('stopped')
  return 0
}
