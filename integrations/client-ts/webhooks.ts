// Verifies that a webhook comes from the panel, by X-Panel-Signature.

/** An event as it is delivered. Use `id` to ignore one that arrives twice. */
export type WebhookEvent = { id: string; type: string; created_at: string; data: Record<string, unknown> }

export class InvalidWebhook extends Error {
  override name = 'InvalidWebhook'
}

type Delivery = {
  /** The secret of the webhook, `whsec_…`, as it was shown. */
  secret: string
  headers: Headers
  /** The body as it arrived, before anything parses it. */
  body: string
  /** Seconds by which the two clocks may differ; 300 where it is not given. */
  toleranceSeconds?: number
  /** Milliseconds since 1970. */
  now?: number
}

/** The event of a genuine delivery. Throws `InvalidWebhook`. */
export async function verifyWebhook(delivery: Delivery): Promise<WebhookEvent> {
  const { secret, headers, body, toleranceSeconds = 300, now = Date.now() } = delivery
  const timestamp = headers.get('X-Panel-Timestamp') ?? ''
  if (!/^\d{1,12}$/.test(timestamp)) throw new InvalidWebhook('X-Panel-Timestamp is missing')
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new InvalidWebhook('X-Panel-Timestamp is too far from now')
  const bytes = new TextEncoder()
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), hmac, false, ['verify'])
  const signed = bytes.encode(`${timestamp}.${body}`)
  // After a rotation of the secret there are two. `verify` compares in constant time.
  for (const one of (headers.get('X-Panel-Signature') ?? '').split(',')) {
    const hex = /^\s*v1=([0-9a-f]{64})\s*$/.exec(one)?.[1]
    if (hex && (await crypto.subtle.verify('HMAC', key, bytesOf(hex), signed))) return JSON.parse(body) as WebhookEvent
  }
  throw new InvalidWebhook('X-Panel-Signature does not match')
}

const bytesOf = (hex: string) =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))
