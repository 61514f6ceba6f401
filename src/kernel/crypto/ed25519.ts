// Which Ed25519 public keys may stand for somebody. The library's check accepts keys of small order: for them one
// signature fits every message, so whoever knows no secret passes.

/** The field's prime and the curve's constant (RFC 8032, 5.1). */
const P = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/** The second coordinate of a point of order 8; its negative is that of the others. */
const ORDER_8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n
/** The second coordinates of all eight points whose order divides 8. */
const smallOrder: ReadonlySet<bigint> = new Set([0n, 1n, P - 1n, ORDER_8, P - ORDER_8])

/** True for the 32 bytes of a point on the curve in its one encoding, unless its order is small. */
export function isUsablePublicKey(key: Uint8Array): boolean {
  if (key.length !== 32) return false
  const y = BigInt(`0x${Buffer.from(key).reverse().toString('hex')}`) & (2n ** 255n - 1n)
  return y < P && !smallOrder.has(y) && isOnCurve(y)
}

/** x² = (y² - 1) / (dy² + 1) has a root exactly where the product of both is a square (Euler's criterion). */
function isOnCurve(y: bigint): boolean {
  const y2 = (y * y) % P
  return power(((y2 - 1n) * (D * y2 + 1n)) % P, (P - 1n) / 2n) === 1n
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let factor = base, left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * factor) % P
    factor = (factor * factor) % P
  }
  return result
}
