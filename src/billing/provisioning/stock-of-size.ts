// How many servers of a size that nobody sells yet would fit now: asked while a package is being made.
import { Type as t } from 'typebox'
import { allLocations } from '../../fleet/locations/queries.ts'
import { locationReferred } from '../../fleet/locations/reference.ts'
import { stockCounter, stockLimits } from '../../fleet/placement/stock.ts'
import { described, namedSchema, operation } from '../../kernel/api/operation.ts'
import { text, wholeNumber } from '../../kernel/api/query.ts'

/** A size where nothing is said: that of a new package. */
const USUAL = { memoryMb: 2048, diskGb: 40, ipv4: 1 }

export const getStockOfSize = operation({
  id: 'stock.of-size',
  method: 'GET',
  path: '/stock/of-size',
  summary: 'How many servers of a size each location takes now, whether or not a package has that size',
  access: { staff: ['servers:read', 'servers:create', 'packages:write'] },
  query: {
    memoryMb: wholeNumber(`MiB of memory: ${USUAL.memoryMb} when nothing is said.`, 64, { maximum: 4_194_304 }),
    diskGb: wholeNumber(`GiB of disk: ${USUAL.diskGb} when nothing is said.`, 1, { maximum: 65_536 }),
    ipv4: wholeNumber(`IPv4 addresses of each: ${USUAL.ipv4} when nothing is said.`, 0, { maximum: 16 }),
    ipv6Prefix: wholeNumber('The length of the IPv6 prefix of each: no IPv6 when nothing is said.', 56, {
      maximum: 128,
    }),
    storageClass: text('The class of storage of its disk: any when nothing is said.', 20),
  },
  response: namedSchema('StockOfSize', {
    available: described(t.Integer(), 'In all locations together.'),
    orMore: described(t.Boolean(), 'Counting stopped there; there may be more.'),
    locations: t.Array(
      namedSchema('StockOfSizeLine', {
        location: locationReferred,
        available: described(t.Integer(), 'So many orders are accepted now, one after another.'),
        orMore: t.Boolean(),
        limit: described(t.Enum([...stockLimits]), 'What binds the number.'),
      }),
    ),
  }),
  run({ tx, nodes, query }) {
    const prefix = query['ipv6Prefix']
    const need = {
      memoryMb: Number(query['memoryMb'] ?? USUAL.memoryMb),
      diskGb: Number(query['diskGb'] ?? USUAL.diskGb),
      ipv4: Number(query['ipv4'] ?? USUAL.ipv4),
      ipv6Prefix: prefix === undefined ? null : Number(prefix),
      storageClass: query['storageClass'] ?? null,
    }
    const stockIn = stockCounter(tx, nodes)
    const locations = allLocations(tx).map((where) => {
      const { available, orMore, limit } = stockIn(where, need)
      return { location: { id: where.id, name: where.name }, available, orMore, limit }
    })
    return {
      available: locations.reduce((sum, line) => sum + line.available, 0),
      orMore: locations.some((line) => line.orMore),
      locations,
    }
  },
})
