import { cdiName } from '../drivers/gpu/cdi.ts'
import { Failure } from '../failure.ts'
import { engineOf } from '../host/facts.ts'
import type { Handlers, Host } from '../host/host.ts'
import { startContainer } from '../host/instances/start-container.ts'
import type { containerCommands } from '../protocol/commands/container.ts'
import { jupyterPurpose, MOST_LOG_CHARACTERS, registryPurpose } from '../protocol/gpu.ts'
import type { Power } from '../protocol/wire.ts'

const POLL_MS = 100
/** A frame may have twice as much, with all that it says beside the logs. */
const MOST_LOG_BYTES = 512 << 10

export const container = {
  async 'container-image.ensure'({ credentials, ...image }, { containers, decrypt }) {
    const login = credentials === undefined ? undefined : loginIn(decrypt(registryPurpose(image.id), credentials))
    return await containers.ensureImage(image, login)
  },

  async 'container-image.remove'({ id }, { containers }) {
    await containers.removeImage(id)
    return {}
  },

  async 'container.create'(wanted, host) {
    const { workload, cards, image, jupyterToken } = wanted
    await mustRunContainers(host)
    if (!(await host.containers.hasImage(image)))
      throw new Failure(
        'no_container_image',
        `image ${image} is not on this node; container-image.ensure comes before container.create`,
      )
    const workspace = await host.workspaces.ready(workload)
    await mustHaveCards(host, cards)
    const token = jupyterToken === undefined ? undefined : host.decrypt(jupyterPurpose(workload), jupyterToken)
    const fittings = await host.access.fit(wanted, token)
    await host.containers.create(wanted, { ...fittings, workspace, devices: cards.map(cdiName) })
    if ((await host.containers.power(workload)) !== 'running') host.state.wantStopped(workload)
    host.state.keepRestartPolicy(workload, wanted.restartPolicy)
    return {}
  },

  async 'container.start'({ workload }, host) {
    await startContainer(host, workload)
    // Last, so that a start that failed is not repeated at every boot. After a crash before it the command runs again.
    host.state.wantRunning(workload)
    return {}
  },

  async 'container.stop'({ workload, graceSeconds }, { access, containers, httpNames, state }) {
    state.wantStopped(workload)
    await containers.stop(workload, graceSeconds)
    httpNames.closed(workload)
    await access.closed(workload)
    return {}
  },

  async 'container.remove'({ workload }, { access, containers, httpNames, state }) {
    state.wantStopped(workload)
    // Before its address can be another instance's.
    httpNames.closed(workload)
    await containers.remove(workload)
    await access.remove(workload)
    state.forgetGuest(workload)
    return {}
  },

  async 'container.look'({ workload }, { containers }) {
    const seen = (await containers.look()).find(({ id }) => id === workload)
    return { power: seen?.power ?? 'absent', end: seen?.end ?? null }
  },

  async 'container.await'({ workload, limitSeconds }, { access, containers }) {
    const until = performance.now() + limitSeconds * 1000
    do {
      if (await access.answers(workload)) return { answered: 'ssh' }
      if ((await containers.power(workload)) !== 'running') return { answered: 'off' }
      await Bun.sleep(POLL_MS)
    } while (performance.now() < until)
    return { answered: 'no' }
  },

  async 'container.set-keys'({ workload, authorizedKeys }, host) {
    const runs = (await mustHaveContainer(host, workload)) === 'running'
    const inside = (command: readonly string[]) => host.containers.runInside(workload, command)
    await host.access.setKeys(workload, authorizedKeys, runs ? inside : undefined)
    return {}
  },

  async 'container.logs'({ workload, lines, since }, host) {
    await mustHaveContainer(host, workload)
    const { text, cursor, skipped } = await host.containers.logs(workload, lines, since)
    const fitting = fittingEnd(text)
    return { ...fitting, truncated: fitting.truncated || skipped, cursor }
  },
} satisfies Handlers<typeof containerCommands>

async function mustRunContainers(host: Host) {
  const { problems } = (await engineOf(host)) ?? { problems: ['Install podman.'] }
  if (problems.length) throw new Failure('no_container_engine', problems.join(' '))
}

/** A card that has a problem is not refused: the controller decides what it sells, and a customer may have it still. */
async function mustHaveCards({ gpus }: Host, wanted: readonly string[]) {
  const found = new Set((await gpus.cards()).map(({ uuid }) => uuid))
  for (const uuid of wanted) if (!found.has(uuid)) throw new Failure('no_card', `this host has no card ${uuid}`)
}

async function mustHaveContainer({ containers }: Host, workload: string): Promise<Power> {
  const power = await containers.power(workload)
  if (power === 'absent') throw new Failure('no_container', `${workload} has no container on this node`)
  return power
}

function loginIn(text: string) {
  const { username, password } = JSON.parse(text) as { username?: unknown; password?: unknown }
  if (typeof username !== 'string' || typeof password !== 'string')
    throw new Failure('invalid_command', 'the login of the registry has no username or no password')
  return { username, password }
}

/** The end of the text, so that it fits its frame, also where each character takes six there. */
export function fittingEnd(text: string): { text: string; truncated: boolean } {
  let kept = text.slice(-MOST_LOG_CHARACTERS)
  while (Buffer.byteLength(JSON.stringify(kept)) > MOST_LOG_BYTES) kept = kept.slice(Math.ceil(kept.length / 2))
  return { text: kept.toWellFormed(), truncated: kept.length < text.length }
}
