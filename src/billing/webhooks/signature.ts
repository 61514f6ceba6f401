// Secrets of webhooks and their signatures. A secret is `whsec_` and the base64 of 32 random bytes. X-Panel-Signature
// uses the whole text as its key; the headers of Standard Webhooks use the bytes behind the prefix.
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

export const newSecret = (): string => PREFIX + randomBytes(32).toString('base64')

const bytesOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64')

type Signed = { deliveryId: string; eventId: string; type: string; timestamp: number; body: string }

/**
 * The headers of one attempt. `timestamp` is in seconds since 1970. Several secrets, after a rotation, give several
 * signatures in the order of the secrets.
 */
export function signedHeaders(secrets: readonly string[], { deliveryId, eventId, type, timestamp, body }: Signed) {
  const ours = (secret: string) => createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  const standard = (secret: string) =>
    createHmac('sha256', bytesOf(secret)).update(`${eventId}.${timestamp}.${body}`).digest('base64')
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Berth-Webhooks/1.0',
    'X-Panel-Event': type,
    'X-Panel-Delivery': deliveryId,
    'X-Panel-Timestamp': String(timestamp),
    'X-Panel-Signature': secrets.map((secret) => `v1=${ours(secret)}`).join(','),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((secret) => `v1,${standard(secret)}`).join(' '),
  }
}
