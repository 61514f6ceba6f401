// Whether a mirror has had everything that its vm wrote until that went off. A mirror that breaks off while the vm runs
// says so in an event alone: afterwards neither the vm nor its jobs are there to be asked.
import { lines } from '../../../host/exec.ts'

const STOPPED_MS = 10_000
const JOB = /event 'block-job(?:-2)?' for domain '[^']*': .* for (\S+) (\S+)$/
/** Older libvirt does not say who wanted it. */
const SHUT_DOWN = /^Finished( after guest request)?$/
const LIFECYCLE = /event 'lifecycle' for domain '[^']*': (\S+) (.*)$/

/**
 * `whole`: every mirror was ready, none ended before the vm, and the vm shut itself down. One that was switched off may
 * have written what its mirror never had.
 */
export class MirrorWatch {
  #ready = new Set<string>()
  #state: 'running' | 'shutting down' | 'off' | 'broken' = 'running'
  #stop = new AbortController()
  #off = Promise.withResolvers<void>()

  constructor(
    private devices: readonly string[],
    events: (signal: AbortSignal) => AsyncIterable<string>,
  ) {
    void this.#hear(events(this.#stop.signal))
  }

  static of(uuid: string, devices: readonly string[]) {
    const command = ['-c', 'qemu:///system', 'event', '--domain', uuid, '--all', '--loop']
    return new MirrorWatch(devices, (signal) => lines('virsh', command, signal))
  }

  async #hear(events: AsyncIterable<string>) {
    try {
      for await (const line of events) this.#take(line)
    } finally {
      if (this.#state !== 'off') this.#break()
      this.#off.resolve()
    }
  }

  #take(line: string) {
    const [, device, job] = JOB.exec(line) ?? []
    if (device && this.devices.includes(device)) {
      if (job === 'ready') this.#ready.add(device)
      else if (this.#state !== 'off') this.#break()
    }
    const [, event, detail] = LIFECYCLE.exec(line) ?? []
    if (event === 'Shutdown')
      this.#state = SHUT_DOWN.test(detail ?? '') ? this.#next('running', 'shutting down') : 'broken'
    else if (event === 'Stopped') {
      this.#state = detail === 'Shutdown' ? this.#next('shutting down', 'off') : 'broken'
      this.#off.resolve()
    } else if (event === 'Started' || event === 'Crashed') this.#break()
  }

  #next = (before: string, next: 'shutting down' | 'off') => (this.#state === before ? next : 'broken')
  #break() {
    this.#state = 'broken'
  }

  get isBroken(): boolean {
    return this.#state === 'broken'
  }

  /** Waits for the end of the vm, of which others have heard. */
  async whole(): Promise<boolean> {
    await Promise.race([this.#off.promise, Bun.sleep(STOPPED_MS)])
    return this.#state === 'off' && this.devices.every((device) => this.#ready.has(device))
  }

  end() {
    this.#stop.abort()
  }
}
