// A node that can lose its power: namespaces of its own (network, processes, mounts, host name) with its own libvirt
// and agent, and a disk that outlives them. Killing its first process ends everything in it at once, and with the
// network go taps and rules, as on a real host. What was on the disk is there at the next boot.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { Subprocess } from 'bun'
import { must, run } from '../guest.ts'

/** The bridge of this machine that the node is plugged into, and the node's address on its own bridge, `br0`. */
export type Network = { bridge: string; address: string }

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const BOOT_SECONDS = 20

export function labNode(name: string, { bridge, address }: Network, program: readonly string[]) {
  const cable = `${bridge}c`
  const disk = mkdtempSync(`${existsSync('/dev/shm') ? '/dev/shm' : '/var/tmp'}/berth-node-`)
  let power: Subprocess | undefined
  /** Its first process, by the number it has outside, and the namespace that all its processes share. */
  let init = ''
  let processes = ''
  let bootId = ''
  writeDisk(disk, { name, address, program })

  const inside = (command: readonly string[]) => [
    'nsenter',
    '--target',
    init,
    '--all',
    '--',
    'env',
    '-i',
    `PATH=${PATH}`,
    ...command,
  ]
  const node = {
    /** Its disk, as seen from outside. */
    disk,
    run: (...command: string[]) => run(inside(command)),
    must: (...command: string[]) => must(...inside(command)),

    /**
     * Switches it on, under a new boot id, or under that of the last boot as a container that is restarted. Resolves
     * when libvirt answers; the agent is on its way then, if it is enrolled.
     */
    async boot({ keepsBootId = false } = {}) {
      if (!keepsBootId) bootId = crypto.randomUUID()
      rmSync(`${disk}/var/log/boots/${bootId}/machines`, { force: true })
      mkdirSync(`${disk}/var/log/boots/${bootId}`, { recursive: true })
      writeFileSync(`${disk}/boot_id`, `${bootId}\n`)
      // Should this test be killed, the node dies with it.
      const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']
      const booting = Bun.spawn(
        [
          'setpriv',
          '--pdeathsig',
          'KILL',
          'unshare',
          ...namespaces,
          'tini',
          '--',
          '/bin/sh',
          `${disk}/init`,
          disk,
          bootId,
        ],
        {
          env: { PATH, LC_ALL: 'C' },
          cwd: '/',
          stdin: 'ignore',
          stdout: 'ignore',
          stderr: Bun.file(`${disk}/var/log/boots/${bootId}/init`),
        },
      )
      power = booting
      await until(
        'the first process of the node',
        async () => (init = (await run(['pgrep', '-P', `${booting.pid}`, '-x', 'tini'])).out),
      )
      processes = namespaceOf(init)!
      await must('ip', 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'up0', 'netns', init)
      await must('ip', 'link', 'set', cable, 'master', bridge, 'up')
      await until('the boot of the node', async () => {
        if (booting.exitCode !== null) throw new Error(`the node fell over: ${node.said('init')}`)
        return existsSync(`${disk}/var/log/boots/${bootId}/machines`)
      }).catch((error) => {
        throw new Error(`${error.message}\n${node.said('init')}`)
      })
      return bootId
    },

    /**
     * The notes of this boot: by the boot itself, by the agent (`agent`), before each start of a guest.
     */
    said: (what: string) => {
      const path = `${disk}/var/log/boots/${bootId}/${what}`
      return existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
    },
    /** The guests that libvirt was told to start during this boot. */
    started: () =>
      readdirSync(`${disk}/var/log/boots/${bootId}`)
        .filter((file) => file.endsWith('.rules'))
        .map((file) => file.slice(0, -'.rules'.length)),

    /** The names of its processes; after a power cut, of those that were not ended by it. */
    processes: () =>
      readdirSync('/proc')
        .filter((pid) => /^\d+$/.test(pid) && namespaceOf(pid) === processes)
        .map((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()),

    /** Resolves when its processes and its network are gone. */
    async cutPower() {
      if (power && power.exitCode === null && power.signalCode === null) {
        if (init) process.kill(Number(init), 'SIGKILL')
        else power.kill('SIGKILL')
        await power.exited
      }
      power = undefined
      init = ''
      await until('the end of its network', async () => !existsSync(`/sys/class/net/${cable}`))
    },
    async remove() {
      await node.cutPower()
      rmSync(disk, { recursive: true, force: true })
    },
  }
  return node
}
export type LabNode = ReturnType<typeof labNode>

function namespaceOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    // It has ended.
    return undefined
  }
}

async function until(what: string, look: () => Promise<unknown>) {
  const end = Date.now() + BOOT_SECONDS * 1000
  while (!(await look())) {
    if (Date.now() > end) throw new Error(`waited ${BOOT_SECONDS} s in vain: ${what}`)
    await Bun.sleep(20)
  }
}

function writeDisk(
  disk: string,
  { name, address, program }: { name: string; address: string; program: readonly string[] },
) {
  for (const folder of ['lib/libvirt', 'log/libvirt', 'cache/libvirt', 'tmp', 'lib/berth-agent'])
    mkdirSync(`${disk}/var/${folder}`, { recursive: true })
  symlinkSync('/run', `${disk}/var/run`)
  mkdirSync(`${disk}/etc-libvirt/hooks`, { recursive: true })
  // QEMU as root, so that disks may lie in private directories and /dev/kvm is no question.
  write('etc-libvirt/qemu.conf', 'user = "root"', 'group = "root"', 'security_driver = "none"', 'remember_owner = 0')
  write(
    'etc-libvirt/libvirtd.conf',
    `host_uuid = "${crypto.randomUUID()}"`,
    'auth_unix_rw = "none"',
    'auth_unix_ro = "none"',
  )
  // libvirt waits for this before it makes a guest's tap, so what is written here is what was in force at that moment.
  write(
    'etc-libvirt/hooks/qemu',
    '#!/bin/sh',
    `export PATH=${PATH}`,
    '[ "$2" = prepare ] || exit 0',
    'log=/var/log/boots/$(cat /proc/sys/kernel/random/boot_id)/$1',
    'ls /sys/class/net >"$log.interfaces"',
    'nft list table bridge berth >"$log.rules" 2>&1',
    'exit 0',
  )
  // The work of systemd at the boot of a node, in the order of the units: network, libvirt, agent. An agent that is not
  // enrolled yet starts when it is.
  write(
    'init',
    'set -eu',
    'disk=$1 log=/var/log/boots/$2',
    `hostname ${name}`,
    // The interfaces of this network, and no cgroups: those would outlive the node.
    'umount -R -l /sys',
    'mount -t sysfs sysfs /sys',
    'mount --bind "$disk/boot_id" /proc/sys/kernel/random/boot_id',
    'mount --bind "$disk/var" /var',
    'mount --bind "$disk/etc-libvirt" /etc/libvirt',
    'mount -t tmpfs -o mode=755 tmpfs /run',
    'until [ -e /sys/class/net/up0 ]; do sleep 0.02; done',
    'ip link set lo up',
    'ip link add br0 type bridge',
    'ip link set up0 master br0 up',
    `ip address add ${address} dev br0`,
    'ip link set br0 up',
    'virtlogd -d',
    'libvirtd -d',
    'until virsh -c qemu:///system version >/dev/null 2>&1; do sleep 0.05; done',
    'nft list tables >"$log/tables"',
    'virsh -c qemu:///system list --name --state-running >"$log/machines.new"',
    'mv "$log/machines.new" "$log/machines"',
    'until [ -e /var/lib/berth-agent/agent.json ]; do sleep 0.05; done',
    'export PANEL_AGENT_INSECURE=1',
    `exec ${program.map((word) => `'${word}'`).join(' ')} agent run >"$log/agent" 2>&1`,
  )

  function write(path: string, ...lines: string[]) {
    writeFileSync(`${disk}/${path}`, `${lines.join('\n')}\n`, { mode: 0o755 })
  }
}
