// SHA-512 crypt, the `$6$` form that /etc/shadow and cloud-init take (U. Drepper, "Unix crypt using SHA-256 and
// SHA-512"). A job holds this hash and never the password.
import { createHash, randomBytes, randomInt } from 'node:crypto'

/** The scheme's smallest number. More would slow down guessing, and nobody guesses 115 random bits. */
const ROUNDS = 1000
const alphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const sha512 = (...parts: Uint8Array[]) => {
  const hash = createHash('sha512')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const repeat = (block: Buffer, length: number) => Buffer.alloc(length, block)

export function sha512Crypt(password: string, salt = newSalt()): string {
  const key = Buffer.from(password)
  const grain = Buffer.from(salt.slice(0, 16))
  const alternate = sha512(key, grain, key)
  const parts: Buffer[] = [key, grain, repeat(alternate, key.length)]
  for (let bits = key.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? alternate : key)
  let sum = sha512(...parts)
  const p = repeat(sha512(repeat(key, key.length * key.length)), key.length)
  const s = repeat(sha512(repeat(grain, grain.length * (16 + sum[0]!))), grain.length)
  for (let round = 0; round < ROUNDS; round++) {
    const odd = round % 2 === 1
    const mix: Buffer[] = [odd ? p : sum]
    if (round % 3) mix.push(s)
    if (round % 7) mix.push(p)
    mix.push(odd ? sum : p)
    sum = sha512(...mix)
  }
  return `$6$rounds=${ROUNDS}$${grain.toString()}$${encode(sum)}`
}

/** Three bytes make four characters; the scheme takes the bytes in turn from three thirds of the sum. */
function encode(sum: Buffer): string {
  let text = ''
  const put = (value: number, characters: number) => {
    for (let v = value, i = 0; i < characters; i++, v >>= 6) text += alphabet[v & 63]
  }
  for (let i = 0; i < 21; i++) {
    const third = [sum[i]!, sum[i + 21]!, sum[i + 42]!]
    const [a, b, c] = [third[i % 3]!, third[(i + 1) % 3]!, third[(i + 2) % 3]!]
    put((a << 16) | (b << 8) | c, 4)
  }
  put(sum[63]!, 2)
  return text
}

const newSalt = () => Array.from(randomBytes(16), (byte) => alphabet[byte & 63]).join('')

/**
 * 20 characters without look-alikes: 115 bits, and it can be read out over the telephone. It has small and capital
 * letters and digits, which Windows demands.
 */
export function newRootPassword(): string {
  const signs = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
  const made = Array.from({ length: 20 }, () => signs[randomInt(55)]).join('')
  return [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(made)) ? made : newRootPassword()
}
