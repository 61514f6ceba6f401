// All eight points whose order divides 8, in every encoding that a decoder may take: with either sign, and with p added
// where the number stays below 2^255. In hexadecimal, least significant byte first.
const zeros = (n: number) => '00'.repeat(n)
const numbers = [
  zeros(32), // 0
  `01${zeros(31)}`, // 1
  `ec${'ff'.repeat(30)}7f`, // -1
  `ed${'ff'.repeat(30)}7f`, // p, another way to write 0
  `ee${'ff'.repeat(30)}7f`, // p + 1
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]

export const smallOrderKeys: readonly string[] = numbers.flatMap((hex) => {
  const negative = Buffer.from(hex, 'hex')
  negative[31]! |= 0x80
  return [hex, negative.toString('hex')]
})
