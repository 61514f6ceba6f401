// The script that changes the addresses of a running Linux, with real ifupdown in a network of its own: at once, a
// second time, and after the next boot, which is a new card with the same MAC address that ifupdown brings up.
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { READDRESS } from '../../../agent/drivers/guest-agent/readdress/linux-script.ts'
import { note } from '../tools.ts'

const isLeftOut = note(
  process.getuid?.() === 0 && Bun.which('unshare') && Bun.which('ifup') ? undefined : 'not root, or no ifupdown',
  'new addresses with real ifupdown',
)
const home = mkdtempSync(join(tmpdir(), 'berth-ifupdown-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const MAC = '02:00:00:00:00:0a'
const NEW = '"198.51.100.10/24 198.51.100.11/24 2001:db8:2::2/64" "4,198.51.100.1,0 6,fe80::1,0" "192.0.2.53"'
// Directories of this machine are covered by empty ones that only these programs see.
const script = `
for dir in /run /etc/network; do mount -t tmpfs none $dir; done
mkdir -p /run/network /etc/network/interfaces.d /etc/network/if-{pre-up,up,down,post-down}.d
boot() {
  ip link del eth0 2>/dev/null; rm -f /run/network/*
  ip link add eth0 address ${MAC} type veth peer name beside && ip link set beside up && ifup -a
}
shown() {
  echo "== $1"
  ip -o address show dev eth0 scope global | awk '{ print $4 }'
  for version in 4 6; do ip -$version route show default | grep -o 'via [^ ]*'; done
}
ip link set lo up
printf 'source /etc/network/interfaces.d/*\\nauto lo\\niface lo inet loopback\\n' >/etc/network/interfaces
cat >/etc/network/interfaces.d/50-cloud-init <<'END'
auto eth0
iface eth0 inet static
    address 203.0.113.10/24
    gateway 203.0.113.1

iface eth0 inet6 static
    address 2001:db8:1::2/64
    gateway 2001:db8:1::1
    dad-attempts 0
END
boot; shown before
for n in first second; do
  sh -s -- eth0 ${MAC} ${NEW} "203.0.113.10 2001:db8:1::2" <"$1" || exit 1
  shown $n
done
boot; shown boot
`

test.skipIf(isLeftOut)(
  'a Debian with ifupdown has its new addresses at once, a second time, and after its next boot',
  () => {
    writeFileSync(join(home, 'readdress.sh'), READDRESS)
    writeFileSync(join(home, 'guest.sh'), script)
    const { stdout, stderr, exitCode } = Bun.spawnSync([
      ...['unshare', '--net', '--mount', 'bash', join(home, 'guest.sh'), join(home, 'readdress.sh')],
    ])
    expect([exitCode, stderr.toString()]).toEqual([0, ''])
    const now = ['198.51.100.10/24', '198.51.100.11/24', '2001:db8:2::2/64', 'via 198.51.100.1', 'via fe80::1']
    // Where the kernel is slow, ifupdown says that it waits for its check of an IPv6 address.
    const lines = stdout.toString().trim().split('\n')
    expect(lines.filter((line) => !line.startsWith('Waiting for DAD'))).toEqual([
      ...['== before', '203.0.113.10/24', '2001:db8:1::2/64', 'via 203.0.113.1', 'via 2001:db8:1::1'],
      ...['by=ifupdown', '== first', ...now],
      ...['by=ifupdown', '== second', ...now],
      ...['== boot', ...now],
    ])
  },
)
