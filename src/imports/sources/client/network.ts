// Requests to a panel over the network, by the kernel's client: the address is checked after each resolution, the
// certificate is the one that the operator trusts, and redirects are not followed.
import { X509Certificate } from 'node:crypto'
import {
  certificateAgent,
  keepAliveAgent,
  OtherCertificate,
  sha256Of,
} from '../../../../agent/protocol/net/pinned-request.ts'
import { second } from '../../../kernel/db/clock.ts'
import {
  AnswerBrokenOff,
  AnsweredTooLate,
  AnsweredTooMuch,
  certificateOf,
  EgressStopped,
  ForbiddenAddress,
  NoAnswer,
  rawEgress,
  UnknownHost,
} from '../../../kernel/net/egress.ts'
import { type SourceCertificate, SourceFailure } from '../failure.ts'
import type { Send } from '../send.ts'
import type { SourceOptions, SourceTrust } from '../source.ts'
import { text } from '../values/scalars.ts'
import type { PanelAddress } from './address.ts'
import { MOST_BYTES } from './answer.ts'

const USUAL_TIMEOUT_MS = 60 * second

export function overNetwork(panel: PanelAddress, trust: SourceTrust, options: SourceOptions): Send {
  const { certificateSha256: pin } = trust
  const agent = pin === null ? keepAliveAgent() : certificateAgent(pin)
  const { lookUp, signal, timeoutMs = USUAL_TIMEOUT_MS } = options
  const limits = { timeoutMs, mostBytes: MOST_BYTES, ...(lookUp && { lookUp }), ...(signal && { signal }) }
  return async (url, headers) => {
    try {
      return await rawEgress(url, panel.policy, { ...limits, headers: { ...headers }, agent })
    } catch (error) {
      throw await failureFrom(error, panel, options)
    }
  }
}

/** Codes that say that a connection could be made, and its certificate is not trusted. */
const untrusted =
  /^(DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_|CERT_|ERR_TLS_CERT_ALTNAME|INVALID_CA|HOSTNAME_MISMATCH)/
const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this address and port.',
  ECONNRESET: 'it closed the connection.',
  ConnectionClosed: 'it closed the connection.',
  EPIPE: 'it closed the connection.',
  ETIMEDOUT: 'it did not answer in time.',
  EHOSTUNREACH: 'there is no way to its host.',
  ENETUNREACH: 'there is no way to its network.',
}

/** The failure behind an error of the kernel's client. The messages of the client name hosts only, never a query. */
async function failureFrom(error: unknown, panel: PanelAddress, options: SourceOptions): Promise<SourceFailure> {
  if (error instanceof ForbiddenAddress) return new SourceFailure('address_not_allowed', panel.url.hostname)
  if (error instanceof UnknownHost) return new SourceFailure('host_unknown')
  if (error instanceof AnsweredTooLate) return new SourceFailure('too_slow')
  if (error instanceof AnsweredTooMuch) return new SourceFailure('too_large')
  if (error instanceof AnswerBrokenOff) return new SourceFailure('truncated')
  if (error instanceof EgressStopped) return new SourceFailure('stopped')
  const cause = error instanceof NoAnswer ? error.cause : error
  if (cause instanceof OtherCertificate)
    return cause.certificate
      ? withCertificate('certificate_changed', cause.certificate)
      : new SourceFailure('tls_failed')
  const code = String((cause as { code?: unknown } | undefined)?.code ?? '')
  if (untrusted.test(code)) return unknownCertificate(panel, options)
  if (/SSL|TLS/.test(code)) return new SourceFailure('tls_failed')
  return new SourceFailure('unreachable', unreachable[code] ?? 'no connection to it came about.')
}

async function unknownCertificate(panel: PanelAddress, { lookUp }: SourceOptions): Promise<SourceFailure> {
  const der = await certificateOf(panel.url, panel.policy, { ...(lookUp && { lookUp }) }).catch(() => null)
  return der ? withCertificate('certificate_unknown', der) : new SourceFailure('tls_failed')
}

const withCertificate = (code: 'certificate_unknown' | 'certificate_changed', der: Buffer): SourceFailure => {
  const certificate = described(der)
  return new SourceFailure(code, certificate.sha256, certificate)
}

function described(der: Buffer): SourceCertificate {
  const sha256 = sha256Of(der)
  try {
    const { subject, issuer, validTo } = new X509Certificate(der)
    const validUntil = Date.parse(validTo)
    return {
      sha256,
      subject: text(subject.replaceAll('\n', ', ')) ?? '',
      issuer: text(issuer.replaceAll('\n', ', ')) ?? '',
      validUntil: Number.isFinite(validUntil) ? validUntil : null,
    }
  } catch {
    return { sha256, subject: '', issuer: '', validUntil: null }
  }
}
