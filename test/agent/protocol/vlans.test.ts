import { expect, test } from 'bun:test'
import { hasVlan, vlanRangesOf, vlansText, withoutVlans } from '../../../agent/protocol/wire.ts'

test('lists of VLANs are put in order and merged', () => {
  expect(vlanRangesOf('100-199, 20,21,150-300')).toEqual([
    { first: 20, last: 21 },
    { first: 100, last: 300 },
  ])
  expect(vlanRangesOf('all')).toEqual([{ first: 1, last: 4094 }])
  expect(vlansText(vlanRangesOf('20,100-199')!)).toBe('20, 100-199')
  expect(vlansText(vlanRangesOf('1-4094')!)).toBe('all')
  expect(vlansText([])).toBe('none')
})

test.each(['', '0', '4095', '20-10', '20,', 'twenty', '-5', '1.5', 'all,20', '1-99999'])(
  '%p is no list of VLANs',
  (text) => expect(vlanRangesOf(text)).toBeUndefined(),
)

test('VLANs of the host are taken out of ranges', () => {
  const ranges = vlanRangesOf('10-20,30')!
  expect(vlansText(withoutVlans(ranges, [10, 15, 30, 99]))).toBe('11-14, 16-20')
  expect(hasVlan(ranges, 20) && hasVlan(ranges, 30)).toBe(true)
  expect(hasVlan(ranges, 21)).toBe(false)
})
