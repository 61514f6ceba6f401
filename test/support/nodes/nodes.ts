// Machines of a small data centre as network namespaces: a router, a switch, and nodes whose agents obey commands.
import { join } from 'node:path'
import { run } from '../../../agent/host/exec.ts'
import type { CommandName, Input, Output } from '../../../agent/protocol/wire.ts'

const ip = (...args: string[]) => run('ip', args)

/** Namespaces whose names begin with `prefix`; `remove` ends everything in them. */
export class Spaces {
  private made: string[] = []
  constructor(private prefix: string) {}

  /** The namespace of this name. */
  ns = (name: string) => `${this.prefix}${name}`
  ip = (name: string, ...args: string[]) => ip('-n', this.ns(name), ...args)
  /** The start of a command that runs in it. */
  inside = (name: string) => ['ip', 'netns', 'exec', this.ns(name)]

  async add(...names: string[]) {
    for (const name of names) {
      await ip('netns', 'add', this.ns(name))
      this.made.push(this.ns(name))
      await this.ip(name, 'link', 'set', 'lo', 'up')
    }
  }
  /** A cable from a device in one to a device in another. */
  async wire([from, device]: [string, string], [to, far]: [string, string]) {
    const peer = ['peer', 'name', far, 'netns', this.ns(to)]
    await ip('link', 'add', device, 'netns', this.ns(from), 'type', 'veth', ...peer)
    await this.ip(from, 'link', 'set', device, 'up')
    await this.ip(to, 'link', 'set', far, 'up')
  }
  async bridge(name: string, ports: readonly string[]) {
    await this.ip(name, 'link', 'add', 'br0', 'type', 'bridge')
    await this.ip(name, 'link', 'set', 'br0', 'up')
    for (const port of ports) await this.ip(name, 'link', 'set', port, 'master', 'br0')
  }
  async remove() {
    for (const name of this.made) await run('ip', ['netns', 'delete', name], { mayFail: true })
  }
}

/** The agent's commands in a network namespace, one after another. `command` starts `obey.ts` with its arguments. */
export class NodeProcess {
  private child
  private lines
  private last: Promise<unknown> = Promise.resolve()

  constructor(start: readonly string[], dir: string, image?: string) {
    const program = [process.execPath, join(import.meta.dir, 'obey.ts'), dir, ...(image ? [image] : [])]
    this.child = Bun.spawn([...start, ...program], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
      env: { ...process.env, PANEL_AGENT_INSECURE: '1' } as Record<string, string>,
    })
    this.lines = lines(this.child.stdout)
  }

  /** Throws the words of a command that failed, with its code. */
  obey<N extends CommandName>(name: N, input: Input<N>): Promise<Output<N>> {
    const turn = this.last
      .catch(() => {})
      .then(async () => {
        this.child.stdin.write(`${JSON.stringify({ name, input })}\n`)
        this.child.stdin.flush()
        const { value } = await this.lines.next()
        const { output, error, code } = JSON.parse(value ?? '{"error":"the node has ended"}')
        if (error) throw Object.assign(new Error(`${name}: ${error}`), { code })
        return output as Output<N>
      })
    this.last = turn
    return turn
  }

  /** Does it beside the command that it obeys now; nobody hears how that ends. */
  begin<N extends CommandName>(name: N, input: Input<N>) {
    this.child.stdin.write(`${JSON.stringify({ name, input, atOnce: true })}\n`)
    this.child.stdin.flush()
  }

  /** Ends it, and everything that runs in its process namespace. */
  async end() {
    this.child.kill('SIGKILL')
    await this.child.exited
  }
}

async function* lines(stream: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of stream) {
    const whole = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = whole.pop()!
    yield* whole
  }
}

/** The start of a node with a libvirt of its own, whose files lie in `dir`. */
export const withLibvirt = (spaces: Spaces, name: string, dir: string): string[] => [
  ...['nsenter', `--net=/run/netns/${spaces.ns(name)}`],
  ...['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
  ...[join(import.meta.dir, 'libvirt-node.sh'), dir],
]
