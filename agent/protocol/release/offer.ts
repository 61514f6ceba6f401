// The answers of the controller at `agentPaths.release`. Nothing of them is believed: the agent checks the manifest
// with the keys that it was built with, and the program with the manifest.
//
//   GET …/release?platform=PLATFORM&version=VERSION&from=SHA256
//       204: nothing for this node now; 200: `ReleaseOffer`
//   GET …/release/patch?to=SHA256&from=SHA256
//       a patch (patch.ts), where the offer has one
//   GET …/release/file/FILE?version=VERSION
//       a program of the manifest, compressed
//
// `from` is the SHA-256 of the program that runs, `to` that of the one that the manifest names. Both files are sent
// from any byte on (`Range: bytes=N-`, 206), so that a download that broke off goes on.
import { type Static, Type as t } from 'typebox'
import { counter } from '../bounds.ts'

/** The longest manifest that an agent reads. */
export const MOST_MANIFEST_CHARACTERS = 64 << 10
/** The longest answer that an agent reads: the manifest with escapes, and the rest. */
export const MOST_OFFER_BYTES = 256 << 10

export const ReleaseOffer = t.Object({
  /** The text of `manifest.json`, character by character: it is what is signed. */
  manifest: t.String({ maxLength: MOST_MANIFEST_CHARACTERS }),
  /** Base64; left out, the agent says that it is not signed. */
  signature: t.Optional(t.String({ maxLength: 200 })),
  /** How long the program may wait for the controller's acceptance. The agent takes no longer trial than its own. */
  trialSeconds: t.Integer({ minimum: 1, maximum: 3600 }),
  /** The patch from the program that runs. */
  patch: t.Optional(t.Object({ sizeBytes: counter })),
})
export type ReleaseOffer = Static<typeof ReleaseOffer>
