// How much of a password is left when everything is taken out of it that guessers try first. No list of leaked passwords is that long: most
// of them are made in the same few ways out of the same few hundred words, and those ways are what is looked for.

/** What passwords are made of again and again, in small letters. Letters that were written as digits or signs are found as well. */
const words = `password passwort passwd passphrase passcode pass word secret secure security access account admin administrator root toor user username guest
  login logon logmein signin letmein letmeout openup opensesame sesame enter welcome hello hallo hi howdy goodbye changeme changeit change default
  temp temporary test tester testing demo sample example dummy nothing none nobody unknown whatever whatsup idontknow dontknow forgot forgotten
  master mistress manager system systems service server servers cloud hosting host panel berth control controller console machine virtual vps kvm
  node network internet computer laptop desktop windows linux debian ubuntu android apple macintosh google yahoo facebook twitter instagram
  youtube microsoft samsung nokia sony nintendo playstation xbox pokemon pikachu minecraft fortnite starwars startrek batman superman spiderman
  ironman hulk avengers gandalf frodo hobbit harrypotter hogwarts naruto matrix neo trinity morpheus terminator skywalker vader yoda
  love lover lovely loveme loveyou iloveyou iloveu iloveme ihateyou hateyou hate kiss kisses kissme heart hearts sweetheart honey sugar sweet sweety
  baby babygirl babyboy girl girls boy boys princess prince queen king lady mister angel angels angela devil heaven hell god jesus christ bible
  amen faith hope grace blessed peace forever 4ever ever always together friend friends bestfriend family mother father mama papa mommy daddy sister
  brother son daughter wife husband happy happiness lucky sunny funny crazy sexy pretty beautiful handsome cute cutie cool awesome amazing perfect
  monkey dragon tiger lion bear wolf eagle falcon hawk shark dolphin panther jaguar puma cougar mustang horse pony unicorn kitty kitten cat cats dog
  dogs doggy puppy bunny rabbit turtle snoopy garfield mickey minnie donald goofy simba bambi butterfly spider snake phoenix ninja samurai pirate
  warrior knight soldier hunter killer ranger rebel rocky rambo maverick shadow ghost ghostrider thunder lightning storm blaze fire flame ice
  star stars superstar rockstar moon sun sunshine sunrise sunset rainbow flower flowers rose roses lily daisy violet jasmine cherry apple banana
  orange lemon peach strawberry chocolate cookie cookies candy coffee pizza pepper ginger cinnamon butter cheese chicken bacon tequila vodka whiskey
  beer guinness summer winter spring autumn january february march april may june july august september october november december monday tuesday
  wednesday thursday friday saturday sunday today tomorrow yesterday morning night midnight birthday christmas holiday vacation weekend
  football futbol soccer baseball basketball hockey tennis golf rugby cricket boxing wrestling racing ferrari porsche mercedes corvette camaro harley
  yamaha honda toyota ford bmw audi arsenal chelsea liverpool manchester united everton barcelona madrid juventus milan bayern dortmund schalke
  yankees lakers cowboys steelers eagles packers raiders redsox dodgers bulls player players gamer gaming game games winner champion champ
  michael jordan jackson michelle jennifer jessica ashley amanda nicole daniel david andrew joshua matthew anthony robert thomas william james john
  george charlie charles maggie maria anna andrea samantha alexander alexandra alex christian christina patrick steven kevin brandon justin tyler
  hannah sophie julia laura sarah oliver oscar buster bailey maxwell max molly lucy bella jake jack sam ben tom
  blue red green black white yellow purple pink silver golden gold diamond crystal platinum metal metallica nirvana slipknot eminem beatles elvis
  music guitar piano dance dancer dancing singer money cash dollar million millionaire rich bank banker business company office boss work job
  school student teacher college university london paris berlin vienna munich hamburg amsterdam newyork chicago texas california florida miami
  america american england english france germany deutschland schweiz espana italia canada australia brazil mexico india china japan russia
  number one two three four five six seven eight nine ten first second last zero fuck fuckyou fuckoff shit
  trustno1 trustme trust nopass nopassword mypassword mypass mine myself yourself please sorry thankyou thanks freedom liberty justice power
  energy magic magical wizard witch mystery dream dreams dreamer destiny future forward victory hero legend genius einstein newton
  schatz schatzi liebe liebling hallihallo geheim passwoerter sommer amour bonjour soleil azerty motdepasse contrasena teamo amor hola senha ciao
  wachtwoord haslo parol qwertz qwerty admin1 root1 abc abcd xyz xxx zzz aaa foo bar foobar baz qux lorem ipsum`

/** Along which fingers go: rows and columns of keyboards, digits, the alphabet. Three signs in a row of one are a step, either way. */
const paths = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop[]',
  'asdfghjkl;',
  'zxcvbnm,./',
  'qwertzuiopü+',
  'yxcvbnm,.-',
  'azertyuiop',
  'qsdfghjklm',
  'wxcvbn',
  '!@#$%^&*()_+',
  '!"§$%&/()=',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'a1b2c3d4e5f6g7h8i9',
  '1a2b3c4d5e6f7g8h9i',
  'qazwsxedcrfvtgbyhnujmikolp',
  'qaywsxedcrfvtgbzhnujm',
  'qawsedrftgyhujikolp',
  'zaqxswcdevfrbgtnhymju',
  '147258369',
  '159753',
]

/** Signs that stand for letters. */
const stands: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'il',
  '2': 'z',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '6': 'g',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
  '!': 'il',
  '|': 'il',
  '+': 't',
  '€': 'e',
}
const isWritten = (mailContent: string, sign: string) => mailContent === sign || !!stands[sign]?.includes(mailContent)

type Known = {
  byLetter: ReadonlyMap<string, readonly string[]>
  /** Where each sign stands on the paths, there and back. */
  places: ReadonlyMap<string, readonly { path: string; at: number }[]>
}
let built: Known | undefined
/** Made for the first password that is chosen: no start waits for it. */
const knownWords = (): Known =>
  (built ??= {
    byLetter: Map.groupBy(new Set(words.split(/\s+/)), (word) => word[0]!),
    places: Map.groupBy(
      paths
        .flatMap((there) => [there, [...there].reverse().join('')])
        .flatMap((path) => [...path].map((_, at) => ({ path, at }))),
      ({ path, at }) => path[at]!,
    ),
  })
const wordsFrom = (sign: string) =>
  [sign, ...(stands[sign] ?? '')].flatMap((mailContent) => knownWords().byLetter.get(mailContent) ?? [])

/** What each piece weighs, in letters that have to be guessed. A word of the list is one of several hundred, a step is one of a few dozen. */
const WORD = 2.4
const STEP = 1
const SEPARATOR = 0.5
const LETTER = 1
/** Less than this is a word and its decoration, or two of them. */
const LEAST = 7
/** So many digits and signs at the end are decoration, whatever they are. */
const MOST_TAIL = 6

/** Is it made of little more than what everybody's passwords are made of, and of what is known about its holder? */
export function isWeak(password: string, known: readonly string[]): boolean {
  const text = password.normalize('NFKC').toLowerCase()
  const about = known.map((word) => word.normalize('NFKC').toLowerCase()).filter((word) => word.length > 2)
  const tail = text.length - text.replace(/[^\p{L}]*$/u, '').length
  const bare = text.slice(0, text.length - Math.min(tail, MOST_TAIL))
  const weighed = new Map<string, number>()
  return Math.min(weigh(text, about, weighed), weigh(bare, about, weighed) + STEP) < LEAST
}

/** The least that any way of taking it apart weighs. `weighed` remembers blocks that stand in it again and again. */
function weigh(text: string, about: readonly string[], weighed: Map<string, number>): number {
  const before = weighed.get(text)
  if (before !== undefined) return before
  // `least[i]`: of what comes before i.
  const least = Array<number>(text.length + 1).fill(Number.POSITIVE_INFINITY)
  least[0] = 0
  for (let at = 0; at < text.length; at++) {
    const soFar = least[at]!
    const take = (length: number, weight: number) => {
      least[at + length] = Math.min(least[at + length]!, soFar + weight)
    }
    take(1, /[\s._-]/.test(text[at]!) ? SEPARATOR : LETTER)
    for (const word of wordsFrom(text[at]!)) if (standsAt(text, at, word)) take(word.length, WORD)
    for (const word of about) if (standsAt(text, at, word)) take(word.length, STEP)
    for (let length = stepAt(text, at); length >= 3; length--) take(length, STEP)
    if (/^(19|20)\d\d/.test(text.slice(at, at + 4))) take(4, STEP)
    const again = repeatedAt(text, at)
    if (again)
      take(
        again.times * again.block,
        STEP + (again.block === 1 ? 0 : weigh(text.slice(at, at + again.block), about, weighed)),
      )
  }
  weighed.set(text, least[text.length]!)
  return least[text.length]!
}

function standsAt(text: string, at: number, word: string): boolean {
  if (at + word.length > text.length) return false
  for (let i = 0; i < word.length; i++) if (!isWritten(word[i]!, text[at + i]!)) return false
  return true
}

/** How many signs from here on go along one path. */
function stepAt(text: string, at: number): number {
  let most = 0
  for (const { path, at: start } of knownWords().places.get(text[at]!) ?? []) {
    let length = 1
    while (start + length < path.length && path[start + length] === text[at + length]) length++
    if (length > most) most = length
  }
  return most
}

/** The shortest block that stands here again and again. */
function repeatedAt(text: string, at: number): { block: number; times: number } | undefined {
  for (let block = 1; block <= (text.length - at) / 2; block++) {
    const one = text.slice(at, at + block)
    let times = 1
    while (text.startsWith(one, at + times * block)) times++
    if (times >= (block === 1 ? 3 : 2)) return { block, times }
  }
  return undefined
}
