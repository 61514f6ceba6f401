// The Debian package on a clean Debian: it installs the program and its units, starts nothing, and leaves the data when
// it goes.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { CleanMachine, checkout, possible, spawn } from './clean-machine.ts'

setDefaultTimeout(300_000)

describe.skipIf(!possible || !Bun.which('dpkg-deb'))('the Debian package', () => {
  let machine: CleanMachine
  const must = (command: string) => machine.must(command)

  beforeAll(async () => {
    const built = await spawn([`${checkout}/install.sh`, '--deb'])
    expect(built).toMatchObject({ code: 0, err: '' })
    const [file] = [...new Bun.Glob('berth_*.deb').scanSync({ cwd: `${checkout}/dist`, absolute: true })]
    machine = await CleanMachine.make('bookworm')
    await machine.bringFile(file!)
  })
  afterAll(async () => {
    await machine?.remove()
  })

  test('installs the program, units that start it, a user and a data directory that is its own', async () => {
    const { code, out, err } = await machine.run('dpkg -i /opt/berth/berth_*.deb')
    expect([code, err]).toEqual([0, expect.not.stringContaining('warning')])
    expect(out).toContain('Set PANEL_PUBLIC_URL in /etc/berth/controller.local.env')
    expect(await must('berth version')).toMatch(/^\D*\d+\.\d+\.\d+/)
    expect(await must('stat -c "%a %U:%G" /var/lib/berth')).toBe('700 berth:berth')
    const units = await must('cat /usr/lib/systemd/system/berth.service /usr/lib/systemd/system/berth-agent.service')
    expect(units).toContain('ExecStart=/usr/bin/berth serve\n')
    expect(units).toContain('ExecStart=/usr/bin/berth agent run\n')
    expect(units).toContain('EnvironmentFile=/etc/berth/controller.env\n')
    expect(units).not.toContain(checkout)
    expect(await must('stat -c "%a %U" /usr/bin/berth /usr/share/doc/berth/install.md')).toBe('755 root\n644 root')
  })

  test('runs as its user with the settings that it made, where berth admin finds it', async () => {
    await must(`set -a; . /etc/berth/controller.env
      setpriv --reuid=berth --regid=berth --clear-groups berth serve >/tmp/berth.log 2>&1 & echo $! >/tmp/pid
      for i in $(seq 100); do berth admin status.get && exit; sleep 0.1; done; cat /tmp/berth.log; exit 1`)
    expect(await must('readlink /proc/$(cat /tmp/pid)/exe')).toBe('/usr/bin/berth')
    await must('kill $(cat /tmp/pid)')
  })

  test('keeps the operator’s settings when it is installed again', async () => {
    await must(
      `echo 'PANEL_LISTEN="127.0.0.1:9000"' >/etc/berth/controller.local.env; sed -i s/8080/8081/ ` +
        '/etc/berth/controller.env',
    )
    expect(await must('dpkg -i /opt/berth/berth_*.deb')).not.toContain('Set PANEL_PUBLIC_URL')
    expect(await must('cat /etc/berth/controller.env')).toContain('8081')
    expect(await must('cat /etc/berth/controller.local.env')).toContain('9000')
  })

  test('leaves settings when it is removed, and the data when it is purged', async () => {
    await must('dpkg -r berth')
    expect((await machine.run('test -e /usr/bin/berth || test -e /usr/lib/systemd/system/berth.service')).code).toBe(1)
    await must('test -e /etc/berth/controller.local.env')
    expect(await must('dpkg -P berth 2>&1')).toContain('The data stays in /var/lib/berth')
    await must('test -e /var/lib/berth/berth.db && test ! -e /etc/berth')
  })

  test('does not go beside a Berth that install.sh made', async () => {
    await must('mkdir -p /usr/local/bin && touch /usr/local/bin/berth')
    const { code, err } = await machine.run('dpkg -i /opt/berth/berth_*.deb')
    expect([code, err]).toEqual([1, expect.stringContaining('install.sh has installed Berth here')])
  })
})
