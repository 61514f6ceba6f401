import { expect } from 'bun:test'
import { type GuestAgent, MOST_GUEST_BYTES } from '../../agent/drivers/guest-agent/guest-agent.ts'

/** A guest agent that answers in the running vm `workload`. */
export type Rig = { agent: GuestAgent; workload: string }

const bytes = (text: string) => new TextEncoder().encode(text)

/** The promises of every guest agent, as a table: a real guest boots once for all of them. */
export const guestAgentContract: Record<string, (rig: Rig) => Promise<void>> = {
  'answers a ping': async ({ agent, workload }) => {
    expect(await agent.ping(workload)).toBe(true)
  },
  'names the system in printable lines': async ({ agent, workload }) => {
    const info = await agent.info(workload)
    expect(info.osName).toMatch(/Linux/)
    for (const value of Object.values(info)) expect(value).toMatch(/^[^\p{Cc}]{1,253}$/u)
  },
  'lists interfaces with addresses': async ({ agent, workload }) => {
    const loopback = (await agent.interfaces(workload)).find(({ name }) => name === 'lo')
    expect(loopback?.addresses).toContain('127.0.0.1/8')
  },
  'tells how full its disks are, that of / first': async ({ agent, workload }) => {
    const [root, ...others] = await agent.fileSystems(workload)
    expect(root!.path).toBe('/')
    for (const { usedBytes, totalBytes, device, kind } of [root!, ...others]) {
      expect(usedBytes).toBeLessThanOrEqual(totalBytes)
      expect(totalBytes).toBeGreaterThan(1 << 20)
      expect(device + kind).toMatch(/^[^\p{Cc}]{2,104}$/u)
    }
  },
  'sets a password, and refuses a user that does not exist': async ({ agent, workload }) => {
    await agent.setPassword(workload, 'root', { text: 'pass word’"\'\\$1' })
    await expect(agent.setPassword(workload, 'nobody-here', { text: 'x' })).rejects.toMatchObject({
      code: 'guest_refused',
    })
  },
  'freezes and thaws, and says that nothing was frozen': async ({ agent, workload }) => {
    expect(await agent.thaw(workload)).toBe(0)
    await agent.freeze(workload)
    await expect(agent.exec(workload, ['true'])).rejects.toMatchObject({ code: 'guest_frozen' })
    expect(await agent.thaw(workload)).toBeGreaterThan(0)
    expect(await agent.thaw(workload)).toBe(0)
  },
  'runs a program with its arguments and its input unchanged': async ({ agent, workload }) => {
    const ran = await agent.exec(workload, ['true', `it's "a" $HOME`, ''], { stdin: 'in\tput\n' })
    expect(ran).toEqual({ code: 0, output: '', truncated: false })
  },
  'writes a file of several chunks and reads its beginning': async ({ agent, workload }) => {
    const content = new Uint8Array(100 << 10).map((_, at) => (at * 7) % 251)
    await agent.writeFile(workload, '/tmp/written', content)
    expect(
      Buffer.from(await agent.readFile(workload, '/tmp/written')).equals(content.subarray(0, MOST_GUEST_BYTES)),
    ).toBe(true)
    await agent.writeFile(workload, '/tmp/written', bytes('short'))
    expect(new TextDecoder().decode(await agent.readFile(workload, '/tmp/written'))).toBe('short')
    await expect(agent.readFile(workload, '/tmp/missing')).rejects.toMatchObject({ code: 'guest_refused' })
  },
}
