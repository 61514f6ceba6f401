// A server is installed when its owner has what was ordered. The node looks at a full Debian with cloud-init and the
// guest agent, and what it says is compared with what a person outside finds. An address that is added later changes
// the network of the system, and nothing else.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { run, sshWithKey, sshWithPassword } from '../../support/guest.ts'
import { debianLab, noDebian, type OrderedServer } from '../../support/nodes/debian.ts'

describe.skipIf(noDebian !== undefined)('an installed Debian', () => {
  let lab: Awaited<ReturnType<typeof debianLab>>
  let byKey: OrderedServer
  let byPassword: OrderedServer & { rootPassword?: string }
  let extra: string

  beforeAll(async () => {
    lab = await debianLab({ bridge: 'bte2e4', ipv4: '10.91.11', ipv6: 'fd42:91:11::/48', diskGb: 4 })
  }, 600_000)
  afterAll(() => lab?.close())

  const api = (method: string, path: string, body?: unknown) => lab.live.api(lab.token, method, path, body)
  const checkOf = async ({ serverId }: OrderedServer) =>
    (await api('GET', `/servers/${serverId}/installation-check`)).body.check
  const addressesOf = async ({ serverId }: OrderedServer) =>
    (await api('GET', `/servers/${serverId}/ips`)).body.data.map(({ address }: any) => address as string)
  const logOf = async (jobId: string) =>
    (await api('GET', `/jobs/${jobId}/log`)).body.lines.map(({ level, text }: any) => `${level}: ${text}`) as string[]
  const inside = async (command: string) => (await sshWithKey(byKey.ipv4, lab.key.path, command)).out
  const ipv6Of = async ({ serverId }: OrderedServer) =>
    (await api('GET', `/servers/${serverId}`)).body.ipv6.replace(/\/\d+$/, '') as string
  const power = async ({ serverId }: OrderedServer, action: string) => {
    const { status, body } = await api('POST', `/servers/${serverId}/actions/power`, { action })
    expect([status, body.error]).toEqual([202, undefined])
    expect(await lab.ended(body.jobId)).toMatchObject({ state: 'succeeded', error: null })
  }
  const pings = async (address: string) =>
    (await run(['ping', '-n', '-c', '2', '-W', '3', ...(address.includes(':') ? ['-6'] : []), address])).code === 0
  /** Every file of its owner's and of the system's settings but those of the network, with its checksum. */
  const files = () =>
    inside(
      "find /etc /root /home -xdev -type f ! -path '/etc/netplan/*' ! -path '/etc/network/*' " +
        "! -path '/etc/systemd/network/*' -exec sha256sum {} + | sort -k 2",
    )

  test('by password says that the password opens it, and it does', async () => {
    byPassword = await lab.order({ hostname: 'word01.example.com', access: { mode: 'password' } })
    expect(await lab.ended(byPassword.jobId)).toMatchObject({ state: 'succeeded', error: null })
    expect(await checkOf(byPassword)).toMatchObject({
      hostname: 'word01',
      ssh: true,
      signIn: { password: true },
      warnings: [],
    })
    const said = await sshWithPassword(byPassword.ipv4, byPassword.rootPassword!, 'hostname')
    expect(said.out).toBe('word01')
    expect((await sshWithPassword(byPassword.ipv4, 'not the password', 'hostname')).code).not.toBe(0)
    await power(byPassword, 'off')
  }, 900_000)

  test('by SSH key answers at both of its addresses, under its name, and says that the key opens it', async () => {
    byKey = await lab.order({ hostname: 'key01.example.com' })
    expect(await lab.ended(byKey.jobId)).toMatchObject({ state: 'succeeded', error: null })
    const log = await logOf(byKey.jobId)
    expect(log.filter((line) => line.startsWith('warning'))).toEqual([])
    expect(await checkOf(byKey)).toMatchObject({
      jobId: byKey.jobId,
      addresses: [
        { address: byKey.ipv4, answers: true },
        { address: await ipv6Of(byKey), answers: true },
      ],
      hostname: 'key01',
      ssh: true,
      signIn: { password: false, keys: true },
      warnings: [],
    })
    expect(log).toContain('info: It calls itself key01. Root signs in by SSH key.')
    // As a person outside finds it.
    expect(await inside('hostname -f')).toBe('key01.example.com')
    expect(await pings(await ipv6Of(byKey))).toBe(true)
  }, 900_000)

  test('takes an address that is added while it runs, and nothing else of it changes', async () => {
    await inside('cloud-init status --wait >/dev/null')
    // A first boot would take back all of this.
    await inside(
      'printf "# mine\\n" >/etc/apt/sources.list; echo mine >/etc/hostname.note; echo "10.9.8.7 mine" >>/etc/hosts; ' +
        'useradd -m mine; echo "root:a password of mine" | chpasswd; echo "Banner /etc/issue" >>/etc/ssh/sshd_config',
    )
    const before = await files()
    expect(before.split('\n').length).toBeGreaterThan(100)
    const { status, body } = await api('POST', `/servers/${byKey.serverId}/ips`, { version: 4 })
    expect(status).toBe(201)
    expect(await lab.ended(body.jobId)).toMatchObject({ state: 'succeeded', error: null })
    expect((await logOf(body.jobId)).filter((line) => line.startsWith('warning'))).toEqual([])
    extra = (await addressesOf(byKey)).find((address: string) => !address.includes(':') && address !== byKey.ipv4)!
    expect(await pings(extra)).toBe(true)
    expect(await files()).toBe(before)
  }, 600_000)

  test('has it after the next start too, and is still the system of its owner', async () => {
    const before = await files()
    for (const action of ['shutdown', 'start']) await power(byKey, action)
    await lab.live.until('SSH by key', async () => (await inside('hostname')) === 'key01', 600)
    await inside('cloud-init status --wait >/dev/null')
    expect(await pings(extra)).toBe(true)
    expect(await pings(await ipv6Of(byKey))).toBe(true)
    expect(await files()).toBe(before)
    expect(await inside('cloud-init status --long')).toContain('status: done')
  }, 900_000)
})
