// Estimates with zxcvbn, over the passwords that people choose most, how many guesses a password withstands. Its
// English word lists are left out: they find no more of our examples and hold 40 MB more.
import type { MatchExtended, ZxcvbnFactory } from '@zxcvbn-ts/core'

/**
 * A power of ten. Common words with decoration stay below 8.6; three random words and 12 random digits are above 9.4.
 */
const LEAST_GUESSES_LOG10 = 9
/** Each change to the text that is looked through costs the guesser a factor of ten. */
const VARIANT_LOG10 = 1
/** That many digits and signs at the end are decoration, whatever they are. */
const MOST_DECORATION = 6
/** The estimate takes quadratic time: of a longer password the beginning and the end are estimated. */
const LONGEST_ESTIMATED = 64

/** Words of this field and of other languages that the common list does not have. */
const words = `berth panel controller console node servers hosting vps kvm proxmox login logmein passphrase passcode
  toor root1 admin1 debian ubuntu instagram twitter fortnite qwertz abcd hallihallo geheim passwort passwoerter
  motdepasse contrasena senha wachtwoord haslo parol schatz liebling sommer azerty mama papa`
/** Columns of keys, downwards and upwards, plain and with Shift. */
const columns = `1qaz 2wsx 3edc 4rfv 5tgb 6yhn 7ujm 8ik, !qaz @wsx #edc $rfv %tgb ^yhn &ujm
  zaq1 xsw2 cde3 vfr4 bgt5 nhy6 mju7 1qay yaq1`

let estimator: Promise<ZxcvbnFactory> | undefined
/** Loaded with the first password that is chosen: 0.2 s and 40 MB that no start pays for. */
const load = async () => {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  return new ZxcvbnFactory({
    dictionary: { ...dictionary, words: words.split(/\s+/), columns: columns.split(/\s+/) },
    graphs: adjacencyGraphs,
  })
}

/**
 * Does a guesser who knows the most common passwords and the words in `about` find it in fewer than 10^9 guesses?
 * Takes some 20 ms.
 */
export async function isGuessable(password: string, about: readonly string[]): Promise<boolean> {
  estimator ??= load()
  const zxcvbn = await estimator
  const text = password.normalize('NFKC').toLowerCase()
  const holder = about.map((word) => word.normalize('NFKC').toLowerCase()).filter((word) => word.length > 2)
  const parts =
    text.length <= LONGEST_ESTIMATED ? [text] : [text.slice(0, LONGEST_ESTIMATED), text.slice(-LONGEST_ESTIMATED)]
  return parts.every((part) => guessesLog10(zxcvbn, part, holder) < LEAST_GUESSES_LOG10)
}

/** The fewest guesses among the text and its variants without decoration, repeated words or the holder's names. */
function guessesLog10(zxcvbn: ZxcvbnFactory, text: string, holder: string[]): number {
  const whole = zxcvbn.check(text, holder)
  const variants = [withoutDecoration(text), withoutRepeatedWords(text), withoutHolder(whole.sequence)].filter(
    (variant) => variant.length < text.length,
  )
  const left = variants.map((variant) =>
    variant ? zxcvbn.check(variant, holder).guessesLog10 + VARIANT_LOG10 : VARIANT_LOG10,
  )
  return Math.min(whole.guessesLog10, ...left)
}

/** A password of digits alone has no decoration. */
function withoutDecoration(text: string): string {
  if (!/\p{L}/u.test(text)) return text
  const bare = text.replace(/[^\p{L}]*$/u, '')
  return text.slice(0, Math.max(bare.length, text.length - MOST_DECORATION))
}

const withoutRepeatedWords = (text: string) => [...new Set(text.split(/[\s._-]+/))].join(' ')

const withoutHolder = (sequence: readonly MatchExtended[]) =>
  sequence
    .filter((match) => (match as { dictionaryName?: string }).dictionaryName !== 'userInputs')
    .map(({ token }) => token)
    .join('')
