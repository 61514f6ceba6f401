// `berth serve`: the controller as a process.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { forbidCoreDumps } from '../../../agent/protocol/linux/core-dumps.ts'
import { keepProgramPagesReleased } from '../../../agent/protocol/linux/program-memory.ts'
import { ServiceManager } from '../../../agent/protocol/systemd.ts'
import { CannotStart, SettingError, whoAmI } from '../../kernel/command-line/startup-errors.ts'
import { log } from '../../kernel/log.ts'
import { certificatesIn } from '../../kernel/net/authorities.ts'
import { withRawPath } from '../../kernel/net/raw-path.ts'
import { VERSION } from '../../kernel/version.ts'
import { type Config, configFrom } from '../config.ts'
import { crashAt } from '../crash-injection.ts'
import { trialOf } from '../wiring/upgrade-trial.ts'
import { isRunning, makeDataDir, openController, socketOf } from './data-dir.ts'
import { alreadyRunning, lockForController, lockOf } from './data-dir-lock.ts'
import { listenHeld } from './held-socket.ts'
import { standBy } from './standby.ts'
import { aboutListening, TAKEN_OVER } from './startup-errors.ts'

/** Answers the exit code when the controller has stopped. Throws what `endOf` knows when it cannot start. */
export async function serve({ asStandby = false } = {}): Promise<number> {
  const config = configFrom(process.env)
  const tls = config.tls && readTls(config.tls)
  if (config.webhookCaFile) mustHoldCertificates(config.webhookCaFile)
  if (!statSync(config.agentDir, { throwIfNoEntry: false })?.isDirectory())
    throw new SettingError(
      `PANEL_AGENT_DIR: there is no directory ${config.agentDir}. Make it, or leave the setting out: then the ` +
        'directory of this program is used.',
    )
  makeDataDir(config.dataDir, 'incoming')
  // Two over one database would carry out every job twice.
  const lock = await lockForController(config.dataDir)
  // One from before there was the lock.
  if (await isRunning(config.dataDir)) throw new CannotStart('already_running', alreadyRunning(config.dataDir))
  const manager = new ServiceManager(log.warning)
  if ((asStandby || config.standby) && (await standBy(config, manager)) === 'stopped') {
    lock.release()
    return 0
  }
  const controller = await openController({
    config,
    failpoints: crashAt(process.env['BERTH_CRASH_AT'], config.dataDir),
  })
  const { health } = controller.db.$client
  const trial = trialOf(config.dataDir)
  health.patiently = (work) => manager.patiently(work)
  // Without its file the lock keeps no second controller out.
  health.watch(lockOf(config.dataDir))
  const { replica } = controller.app
  if (trial) {
    trial.mustBeSound(controller.db)
    controller.answerReadsAlone()
  } else await replica.begin(controller.app.secrets)
  const { server, isHeld, stopAccepting } = listen(config, {
    // Ours answers 413 first, with an error body; this is the backstop.
    maxRequestBodySize: 64 << 20,
    idleTimeout: 30,
    ...(withRawPath(controller.fetch) as any),
    websocket: controller.websocket as any,
    ...(tls ? { tls } : {}),
  })
  const socket = socketOf(config.dataDir)
  if (existsSync(socket)) rmSync(socket)
  // An operation may take its time: encrypting everything anew does.
  const fetchLocal: typeof controller.fetchLocal = async (request, server, isCanonical) =>
    trial?.response(request) ?? controller.fetchLocal(request, server, isCanonical)
  const admin = Bun.serve({ unix: socket, idleTimeout: 0, ...(withRawPath(fetchLocal) as any) })
  chmodSync(socket, 0o600)
  if (!trial) controller.start()
  // A controller that cannot even read its database helps nobody.
  const canRead = controller.db.$client.prepare('SELECT count(*) FROM sqlite_schema')
  manager.ready(() => canRead.get())
  forbidCoreDumps()
  keepProgramPagesReleased()
  const at = { hostname: config.listen.hostname, port: isHeld ? config.listen.port : server.port! }
  log.info('Berth is up', {
    version: VERSION,
    listen: `${at.hostname}:${at.port}`,
    publicUrl: config.publicUrl,
    dataDir: config.dataDir,
  })

  let ended: End | undefined
  const end = await new Promise<End>((resolve) => {
    const stop = (why: End) => resolve((ended ??= why))
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop('stopped'))
    void replica.takenOver.then(() => stop('taken over'))
    void trial?.decided(controller.db, { listen: at, tls: config.tls }).then(async (isAccepted) => {
      if (!isAccepted) return stop('not accepted')
      await replica.begin(controller.app.secrets)
      if (!ended) controller.open()
    })
  })
  manager.stopping()
  log.info('stopping: changes are refused, reads go on')
  controller.beginStop()
  // Connections that are kept open hear `Connection: close` with their next response, instead of being cut off.
  await Bun.sleep(DRAIN_MS)
  await controller.stop(async () => {
    stopAccepting()
    await drained(server)
    await Promise.race([Promise.all([server.stop(), admin.stop()]), Bun.sleep(IN_FLIGHT_MS)])
    await Promise.all([server.stop(true), admin.stop(true)])
  })
  lock.release()
  log.info('stopped')
  if (end === 'taken over') throw takenOver(health.trouble?.reason ?? '')
  if (end === 'not accepted')
    throw new CannotStart('upgrade_not_accepted', `Nobody accepted version ${VERSION}: the former one is put back.`)
  return 0
}

type End = 'stopped' | 'taken over' | 'not accepted'

const takenOver = (reason: string) =>
  new CannotStart(
    TAKEN_OVER,
    `${reason} This one has stopped, so that there are not two. Begin it as the standby of the other: berth serve ` +
      '--standby; or take PANEL_REPLICA away, if the other is gone for good and this one has the right data.',
  )

function listen(config: Config, options: object) {
  return listenHeld(config.listen, process.env, (at) => {
    try {
      return Bun.serve({ ...options, ...at } as any)
    } catch (error) {
      throw aboutListening(error, config)
    }
  })
}

/** How long changes are refused and reads go on before new connections wait. */
const DRAIN_MS = 300
/** A connection that was taken sends its request within this time. */
const QUIET_MS = 100
/** The most that a request in flight delays the stop, once new ones wait. */
const IN_FLIGHT_MS = 8000

/** Resolves when no request has been in flight for a moment, or after `IN_FLIGHT_MS`. */
async function drained(server: { pendingRequests: number }) {
  const end = performance.now() + IN_FLIGHT_MS
  for (let quietSince = performance.now(); performance.now() < end; await Bun.sleep(10)) {
    if (server.pendingRequests > 0) quietSince = performance.now()
    else if (performance.now() - quietSince >= QUIET_MS) return
  }
}

/** Read once, at start. Throws SettingError for files that are not a certificate and its key. */
function readTls(files: { cert: string; key: string }): { cert: string; key: string } {
  const tls = { cert: readSetting('PANEL_TLS_CERT', files.cert), key: readSetting('PANEL_TLS_KEY', files.key) }
  let fits = false
  try {
    fits = new X509Certificate(tls.cert).checkPrivateKey(createPrivateKey(tls.key))
  } catch (error) {
    throw new SettingError(
      `PANEL_TLS_CERT and PANEL_TLS_KEY must be a certificate and its key as PEM, and ${files.cert} or ` +
        `${files.key} is not (${(error as Error).message}).`,
    )
  }
  if (!fits) throw new SettingError(`PANEL_TLS_KEY: ${files.key} is not the key of the certificate in ${files.cert}.`)
  return tls
}

/** Throws SettingError: the first delivery would be too late to say it. */
function mustHoldCertificates(file: string) {
  const text = readSetting('PANEL_WEBHOOK_CA_FILE', file)
  try {
    certificatesIn(text)
  } catch (error) {
    throw new SettingError(
      `PANEL_WEBHOOK_CA_FILE: ${file} must hold certificates of authorities as PEM (${(error as Error).message}).`,
    )
  }
}

function readSetting(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as { code?: string }
    throw new SettingError(
      code === 'ENOENT'
        ? `${name}: there is no file ${file}.`
        : `${name}: the user ${whoAmI()} cannot read ${file} (${code}). Let that user read it, and the directories ` +
            'above it.',
    )
  }
}
