// Operations that hold the event loop for longer than 50 ms over 60,000 servers, or nearly so, and why
// (test/bench/servers/holds.ts, November 2026). Each reads or counts everything in one statement, whatever its body.
const search = 'searches every server by every word: 490 to 540 ms'
const ofReseller = 'adds up all that a reseller with 6,000 servers holds, once or more often: 35 to 135 ms'
const everyPool = 'counts the addresses of each pool and its nodes: 42 to 100 ms'
const inUse = 'counts the servers of each package or image: 41 to 58 ms'

export const knownHolds: Readonly<Record<string, string>> = {
  'servers.list': search,
  'servers.list-all': search,
  'servers.export': search,
  'servers.export-all': search,
  'gpu-instances.list': search,
  'gpu-instances.list-all': search,
  'search.find': 'searches every server, customer and job: 190 ms',
  'overview.own': 'counts all servers of an account: 80 ms',
  'usage.report': 'counts the lines of a month: 40 ms',
  'resellers.update': ofReseller,
  'resellers.suspend': ofReseller,
  'resellers.unsuspend': ofReseller,
  'pools.attach': everyPool,
  'pools.list': everyPool,
  'images.update': inUse,
  'images.list': inUse,
  'images.builds': inUse,
  'packages.list': inUse,
  'packages.update': inUse,
}
