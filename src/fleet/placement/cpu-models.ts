// CPU models of QEMU by what they offer, so that the best of those that every node runs can be proposed.

/** From the least to the most. Those before the first one that 64-bit systems boot on are left out. */
const ascending = [
  'kvm64',
  'qemu64',
  'Opteron_G1',
  'Conroe',
  'Opteron_G2',
  'Penryn',
  'Opteron_G3',
  'Nehalem',
  'Westmere',
  'Opteron_G4',
  'SandyBridge',
  'Opteron_G5',
  'IvyBridge',
  'Haswell-noTSX',
  'Haswell',
  'Broadwell-noTSX',
  'Broadwell',
  'Skylake-Client-noTSX',
  'Skylake-Client',
  'Dhyana',
  'EPYC',
  'Skylake-Server-noTSX',
  'Skylake-Server',
  'Cascadelake-Server-noTSX',
  'Cascadelake-Server',
  'Cooperlake',
  'EPYC-Rome',
  'Icelake-Server-noTSX',
  'Icelake-Server',
  'EPYC-Milan',
  'EPYC-Genoa',
  'SapphireRapids',
  'GraniteRapids',
]
/** `Nehalem-IBRS` and `EPYC-v3` are a little more than what they are made of. */
const family = (model: string) => model.replace(/-v\d+$/, '').replace(/-IB(RS|PB)$/, '')
const rankOf = (model: string) => ascending.indexOf(family(model))

/** The models that all of these nodes run, the best first; those that no 64-bit system boots on are left out. */
export function commonModels(nodes: readonly ReadonlySet<string>[]): string[] {
  const [first, ...others] = nodes
  return [...(first ?? [])]
    .filter((model) => rankOf(model) >= 0 && others.every((models) => models.has(model)))
    .toSorted((a, b) => rankOf(b) - rankOf(a) || b.length - a.length || (a < b ? 1 : -1))
}
