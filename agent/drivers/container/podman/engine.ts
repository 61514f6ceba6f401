// The container engine of the host: Podman with a storage, networks and settings of Berth's own, so that it touches
// nothing of what the operator runs with Podman. Its service serves the agent alone; containers outlive it.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, wordsOf } from '../../../failure.ts'
import { makePassage } from '../../../host/directories.ts'
import { type Begun, begin, find, run } from '../../../host/exec.ts'
import type { ContainerEngine } from '../../../protocol/gpu.ts'
import { PodmanApi } from './api.ts'
import { type Info, type Minimum, problemsOf } from './requirements.ts'
import { profileOfHost } from './seccomp.ts'

/** The socket of the service that a host with systemd runs apart from the agent, whose rights do not suffice. */
export const SERVICE_SOCKET = '/run/berth/podman.sock'
const START_LIMIT_MS = 15_000
const START_POLL_MS = 50
/** Podman takes 0.3 s to say what it is. */
const INFO_MS = 600_000
/** The kernel's limit for a path of a socket. */
const LONGEST_SOCKET = 107

export type EngineOptions = {
  /** Settings, images and containers; on a disk. */
  dir: string
  /** Emptied by a reboot. */
  runDir: string
  minimum: Minimum
  serviceSocket?: string
  /** Whether the unit of the agent keeps it from what Podman does; tests say so. */
  isConfined?: () => boolean
}

/**
 * systemd runs the agent without new rights and without namespaces. Podman beside it would note in its storage that
 * this host cannot map user ids, and containers of a service that it began would have no more rights than it has.
 */
const isConfinedHere = () => /^NoNewPrivs:\s+1$/m.test(readFileSync('/proc/self/status', 'utf8'))

export class Engine {
  private service: Begun | undefined
  private isSetUp = false
  private starting: Promise<PodmanApi> | undefined
  private known: { at: number; engine: ContainerEngine } | undefined
  private readonly environment: Record<string, string>

  constructor(private options: EngineOptions) {
    this.environment = {
      CONTAINERS_CONF: join(options.dir, 'containers.conf'),
      CONTAINERS_STORAGE_CONF: join(options.dir, 'storage.conf'),
      CONTAINERS_REGISTRIES_CONF: join(options.dir, 'registries.conf'),
    }
  }

  seccomp = () => join(this.options.dir, 'seccomp.json')

  /** The interface of a service that answers, which is started if need be. Throws `container_engine_silent`. */
  api(): Promise<PodmanApi> {
    this.starting ??= this.start().finally(() => {
      this.starting = undefined
    })
    return this.starting
  }

  /** Undefined where Podman is not installed. */
  async about(): Promise<ContainerEngine | undefined> {
    if (!find('podman')) return undefined
    if (this.known && performance.now() - this.known.at < INFO_MS) return this.known.engine
    const engine = await this.ask().catch((error) => ({
      name: 'podman',
      version: '',
      problems: [`Podman does not say what it is: ${wordsOf(error)}`],
    }))
    // A package that is missing may be installed at any moment.
    if (!engine.problems.length) this.known = { at: performance.now(), engine }
    return engine
  }

  /** Ends the service of this agent; containers run on. */
  close() {
    this.service?.stop('SIGTERM')
    this.service = undefined
  }

  /** A service that answers is asked: beside it, under systemd, the agent has not the rights that Podman needs. */
  private async ask(): Promise<ContainerEngine> {
    this.writeSettings()
    const service = await this.running()
    const info = service ? await service.ask<Info>('GET', '/info') : await this.askProgram()
    return { name: 'podman', version: info.version.Version, problems: problemsOf(info, this.options.minimum) }
  }

  private mustBeFree() {
    if ((this.options.isConfined ?? isConfinedHere)())
      throw new Failure(
        'container_engine_silent',
        'its service does not answer: start berth-containers, which install.sh --agent --gpu makes',
      )
  }

  private async askProgram(): Promise<Info> {
    this.mustBeFree()
    const options = { env: this.environment, quietly: true, limitSeconds: 30 }
    return JSON.parse((await run('podman', ['info', '--format', 'json'], options)).out) as Info
  }

  /** The service of the host, or else that of this agent; undefined where neither answers. */
  private async running(): Promise<PodmanApi | undefined> {
    for (const socket of [this.options.serviceSocket ?? SERVICE_SOCKET, this.socket()]) {
      const api = new PodmanApi(socket)
      if (await api.answers()) return api
    }
    return undefined
  }

  private socket = () => join(this.options.runDir, 'engine.sock')

  private async start(): Promise<PodmanApi> {
    this.writeSettings()
    const running = await this.running()
    if (running) return running
    const socket = this.socket()
    if (socket.length > LONGEST_SOCKET) throw new Failure('container_engine_silent', `${socket} is too long a path`)
    this.mustBeFree()
    const own = new PodmanApi(socket)
    this.close()
    const service = begin('podman', ['--log-level', 'error', 'system', 'service', '--time=0', `unix://${socket}`], {
      env: this.environment,
    })
    this.service = service
    const ended = service.ended.then(({ err }) => err.trim() || 'it ended')
    const until = performance.now() + START_LIMIT_MS
    while (performance.now() < until) {
      if (await own.answers()) return own
      const words = await Promise.race([ended, Bun.sleep(START_POLL_MS)])
      if (typeof words === 'string')
        throw new Failure('container_engine_silent', `the service of Podman does not start: ${words.slice(-500)}`)
    }
    throw new Failure('container_engine_silent', 'the service of Podman does not answer')
  }

  /** Others may pass through, because the container's user ids are none of the host's. */
  makeDirectories() {
    makePassage(this.options.dir)
    makePassage(this.options.runDir)
  }

  /** Whether there ever was an image or a container. */
  wasUsed = () => existsSync(join(this.options.dir, 'containers.db'))

  /** Once in an agent's life; a file that has not changed is not written. */
  private writeSettings() {
    if (this.isSetUp) return
    const { dir, runDir } = this.options
    this.makeDirectories()
    const files: Record<string, string> = {
      'containers.conf': containersConf(dir, runDir),
      'storage.conf': storageConf(dir, runDir),
      'registries.conf': 'unqualified-search-registries = []\nshort-name-mode = "enforcing"\n',
      'seccomp.json': profileOfHost(),
    }
    for (const [name, text] of Object.entries(files)) {
      const path = join(dir, name)
      const before = statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, 'utf8') : undefined
      if (before !== text) writeFileSync(path, text, { mode: 0o644 })
    }
    this.isSetUp = true
  }
}

const containersConf = (dir: string, runDir: string) => `[containers]
init = true
log_driver = "k8s-file"
seccomp_profile = "${dir}/seccomp.json"

[engine]
cgroup_manager = "cgroupfs"
exit_command_delay = 10
events_logger = "file"
events_logfile_path = "${runDir}/events.log"
hooks_dir = []
lock_type = "file"
runtime = "crun"
static_dir = "${dir}/libpod"
tmp_dir = "${runDir}/libpod"
volume_path = "${dir}/volumes"

[network]
network_backend = "netavark"
network_config_dir = "${dir}/networks"
`

const storageConf = (dir: string, runDir: string) => `[storage]
driver = "overlay"
graphroot = "${dir}/storage"
runroot = "${runDir}/storage"

[storage.options.overlay]
mountopt = "nodev"
`
