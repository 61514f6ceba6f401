// The frames by which neighbours learn where an address is, as other implementations read them.
import { expect, test } from 'bun:test'
import { announcements } from '../../../agent/drivers/network/announce.ts'

const hex = (frame: Uint8Array) => Buffer.from(frame).toString('hex')

test('an IPv4 address is announced by an ARP request and a reply about itself', () => {
  const [request, reply] = announcements('52:54:00:00:00:0a', '198.51.100.7').map(hex)
  const start = 'ffffffffffff' + '52540000000a' + '0806' + '0001080006040'
  expect(request).toBe(`${start}001` + '52540000000a' + 'c6336407' + '000000000000' + 'c6336407')
  expect(reply).toBe(`${start}002` + '52540000000a' + 'c6336407' + 'ffffffffffff' + 'c6336407')
})
test('an IPv6 address is announced by a neighbour advertisement to all nodes, with a right checksum', () => {
  const [frame] = announcements('52:54:00:00:00:0a', '2001:db8::7')
  expect(hex(frame!.subarray(0, 22))).toBe('333300000001' + '52540000000a' + '86dd' + '6000000000203aff')
  const message = frame!.subarray(54)
  expect(hex(message.subarray(0, 2))).toBe('8800')
  expect(hex(message.subarray(4))).toBe('20000000' + '20010db8000000000000000000000007' + '0201' + '52540000000a')
  // RFC 1071: the sum over pseudo header and message, its checksum included, is all ones.
  const summed = [...frame!.subarray(22, 54), 0, 0, 0, message.length, 0, 0, 0, 58, ...message]
  let sum = 0
  for (let i = 0; i < summed.length; i += 2) sum += (summed[i]! << 8) | summed[i + 1]!
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  expect(sum).toBe(0xffff)
})
