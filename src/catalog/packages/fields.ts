// The fields of a package, in the order of its form. The limits are those of QEMU and Linux, not recommendations.
import { Type as t } from 'typebox'
import { POOL_CLASS, RestartPolicy } from '../../../agent/protocol/wire.ts'
import { restartPolicyWords } from '../../fleet/workloads/restart-policy.ts'
import {
  choice,
  inGroup,
  optional,
  required,
  textLine,
  usually,
  wholeNumber,
  yesOrNo,
} from '../../kernel/fields/field-list.ts'
import { units } from '../../kernel/words.ts'
import { billingProductId, nameOfGoods, priceFields } from '../goods.ts'
import { overTrafficPolicies, overTrafficWords } from './over-traffic.ts'

const storageClass = textLine(
  t.String({
    maxLength: 20,
    pattern: POOL_CLASS,
    title: 'a class of storage in small letters, numbers and hyphens, like nvme',
  }),
)
const mbps = wholeNumber(1, 400_000)
const iops = wholeNumber(10, 10_000_000)
const mibPerSecond = wholeNumber(1, 1_000_000)

export const packageFields = {
  name: inGroup('Name', nameOfGoods('KVM 2G')),
  billingProductId,
  /** More need an interrupt controller that not every system knows: libvirt refuses them for the usual machine. */
  vcpus: required(wholeNumber(1, 255), { label: 'vCPUs', initial: 2, group: 'Size' }),
  memoryMb: required(wholeNumber(64, 4_194_304), {
    label: 'Memory',
    unit: units.memoryMb,
    initial: 2048,
    isBeside: true,
  }),
  diskGb: required(wholeNumber(1, 65_536), { label: 'Disk', unit: units.diskGb, initial: 40, isBeside: true }),
  /** At most 9 PB: its bytes are still a whole number. */
  trafficGb: optional(wholeNumber(1, 9_000_000), {
    label: 'Monthly traffic',
    unit: units.trafficGb,
    group: 'Network',
  }),
  portMbps: optional(mbps, { label: 'Port speed', unit: 'Mbit/s', isBeside: true }),
  ipv4: usually(1, wholeNumber(0, 16), {
    label: 'IPv4 addresses',
    description: 'How many addresses a server gets.',
  }),
  ipv6Prefix: optional(wholeNumber(56, 128), {
    label: 'IPv6 prefix length',
    initial: 64,
    isBeside: true,
    hint: '56 to 128. Leave empty for no IPv6.',
    description: 'The length of the prefix that a server gets.',
  }),
  overTraffic: usually('nothing', choice(t.Enum([...overTrafficPolicies]), overTrafficWords), {
    label: 'When a server has used its traffic',
    hint: 'Its owner is told at 80 % and at 100 %. Both directions count.',
    description: 'What becomes of a server that has used its traffic of the month.',
  }),
  throttleMbps: optional(mbps, {
    label: 'Speed of a server that is slowed down',
    unit: 'Mbit/s',
    hint: 'In each direction. Only where a server is slowed down when it has used its traffic.',
    description: 'The speed in each direction of a server that `throttle` slows down; null with another `overTraffic`.',
  }),
  restartPolicy: usually('on_failure', choice(RestartPolicy, restartPolicyWords), {
    group: 'Included',
    label: 'After a crash',
    hint:
      'Up to three times in ten minutes. A server that was stopped in the panel stays off. New servers take it over; ' +
      'each can be given its own.',
    description:
      'A server that ends by itself starts again: `on_failure` after a crash, `always` after a shutdown too.',
  }),
  /** A guest reads through all layers of its disk, so they stay few. */
  snapshotLimit: usually(3, wholeNumber(0, 20), {
    label: 'Snapshots of a server',
    hint: '0 for none. Each holds as much space on the node as the disk has.',
    description: 'Snapshots that a server may have at a time; 0: none.',
  }),
  storageClass: optional(storageClass, {
    group: 'Storage',
    label: 'Class of storage',
    placeholder: 'nvme',
    hint: 'Disks are made in storage pools of this class; each node names its own. Leave empty for any.',
    description: 'Disks are made in storage of this class; null: of any.',
  }),
  /** Those of all its servers are the owner's together. */
  volumeGb: usually(0, wholeNumber(0, 1_000_000), {
    label: 'Extra volumes',
    unit: 'GiB',
    hint: '0 for none. Owners share those of all their servers between them.',
    description: 'GiB of extra volumes that come with a server; 0: none.',
  }),
  volumeClass: optional(storageClass, {
    label: 'Class of volumes',
    placeholder: 'hdd',
    isBeside: true,
    hint: 'Leave empty for that of the disk.',
    description: 'Volumes are made in storage of this class; null: of that of its disk.',
  }),
  diskReadIops: optional(iops, {
    group: 'Disk speed',
    label: 'Disk reads',
    unit: 'per second',
    hint: 'Of each disk. Empty for no limit.',
    description: 'Of each disk, per second; null, as for the next three: not limited.',
  }),
  diskWriteIops: optional(iops, {
    label: 'Disk writes',
    unit: 'per second',
    isBeside: true,
    hint: 'New servers get these limits.',
  }),
  diskReadMbPerSecond: optional(mibPerSecond, { label: 'Disk read speed', unit: 'MiB/s', description: 'MiB.' }),
  diskWriteMbPerSecond: optional(mibPerSecond, {
    label: 'Disk write speed',
    unit: 'MiB/s',
    isBeside: true,
    description: 'MiB.',
  }),
  newConnectionsPerSecond: optional(wholeNumber(1, 1_000_000), {
    group: 'Limits against abuse',
    label: 'New connections',
    unit: 'per second',
    hint: 'TCP connections that a server may begin. Empty: as the settings say.',
    description: 'TCP connections that a server may begin; null: as the settings say.',
  }),
  packetsPerSecond: optional(wholeNumber(100, 100_000_000), {
    label: 'Packets',
    unit: 'per second',
    isBeside: true,
    hint: 'Packets that a server may send. Empty: as the settings say.',
    description: 'Packets that a server may send; null: as the settings say.',
  }),
  smtpAllowed: usually(false, yesOrNo, {
    label: 'Its servers may connect to mail servers',
    hint: 'TCP port 25. Off, spam from a hijacked server stays inside; each server can be given an exception.',
    description: 'Its servers may connect to mail servers, on TCP port 25.',
  }),
  price: inGroup('Price', priceFields.price),
  currency: priceFields.currency,
  pricePer: priceFields.pricePer,
}
