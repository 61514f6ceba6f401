// The contract of a driver about one server at its source. The fake and the real one pass it.
import { expect, test } from 'bun:test'
import type { SourceServers } from '../../../../agent/drivers/source-host/source-servers.ts'
import type { SourceHost } from '../../../../agent/protocol/values/source-hosts.ts'

/** `server`: makes one that runs, and answers its name. `state`: of its domain, as libvirt tells it. */
export type ServersRig = {
  node: SourceServers
  host: SourceHost
  server(kind: 'transient' | 'persistent'): Promise<string>
  state(domain: string): Promise<string>
  /** The kept definition at the source. */
  kept(domain: string): Promise<string | undefined>
  /** The other panel starts it, or ends it. */
  power(domain: string, to: 'on' | 'off'): Promise<void>
}

const GRACE_SECONDS = 30

export function serversContract(rig: () => ServersRig) {
  const of = (domain: string) => ({ host: rig().host, domain })

  test('a transient server vanishes when it is stopped, and runs again from its kept definition', async () => {
    const { node, kept, server, state } = rig()
    const domain = await server('transient')
    expect(node.stop(of(domain), GRACE_SECONDS)).rejects.toMatchObject({ code: 'source_definition_not_kept' })
    expect(await state(domain)).toBe('running')
    const saved = await node.save(of(domain))
    expect(saved).toMatchObject({ state: 'running', isPersistent: false })
    expect(saved.definition).toContain(`<name>${domain}</name>`)
    expect(await kept(domain)).toContain(`<name>${domain}</name>`)
    expect(await node.stop(of(domain), GRACE_SECONDS)).toEqual({ wasRunning: true })
    expect(await state(domain)).toBe('absent')
    expect(await node.stop(of(domain), GRACE_SECONDS)).toEqual({ wasRunning: false })
    // Sent again while it is gone, the definition stays.
    expect(await node.save(of(domain))).toMatchObject({ state: 'absent', definition: saved.definition })
    await node.start(of(domain), saved.definition)
    expect(await state(domain)).toBe('running')
    await node.start(of(domain), saved.definition)
    expect(await state(domain)).toBe('running')
  })

  test('a transient server whose kept definition is gone runs again from the one that was given', async () => {
    const { node, server, state } = rig()
    const domain = await server('transient')
    const { definition } = await node.save(of(domain))
    await node.stop(of(domain), GRACE_SECONDS)
    await node.forget(of(domain))
    await node.start(of(domain), definition)
    expect(await state(domain)).toBe('running')
  })

  test('a persistent server is off when it is stopped, and is started as it is', async () => {
    const { kept, node, power, server, state } = rig()
    const domain = await server('persistent')
    const saved = await node.save(of(domain))
    expect(saved).toMatchObject({ state: 'running', isPersistent: true })
    expect(await node.stop(of(domain), GRACE_SECONDS)).toEqual({ wasRunning: true })
    expect(await state(domain)).toBe('off')
    await node.start(of(domain), saved.definition)
    expect(await state(domain)).toBe('running')
    await power(domain, 'off')
    expect(await node.save(of(domain))).toMatchObject({ state: 'off', isPersistent: true })
    expect(await node.stop(of(domain), GRACE_SECONDS)).toEqual({ wasRunning: false })
    await node.forget(of(domain))
    await node.forget(of(domain))
    expect(await kept(domain)).toBeUndefined()
  })

  test('a server that is not there is not kept, not stopped and not started', async () => {
    const { node, kept } = rig()
    expect(node.save(of('v404'))).rejects.toMatchObject({ code: 'source_no_domain' })
    expect(node.stop(of('v404'), 0)).rejects.toMatchObject({ code: 'source_definition_not_kept' })
    expect(await kept('v404')).toBeUndefined()
  })
}
