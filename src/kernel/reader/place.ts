// Where a page stands in its list, for the panel; no field of the API.

export const placeOfPage: unique symbol = Symbol('place')
/** `first`: how many rows stand before the page. `previous`: its cursor, null where the page before has none. */
export type Place = { first: number; previous: string | null | undefined }

/** The place that goes with this page; undefined where it is no page. */
export const placeIn = (page: object): Place | undefined => (page as { [placeOfPage]?: Place })[placeOfPage]
/** Of a page. `previous` undefined: it is the first. */
export const placeOf = (page: object): Place => placeIn(page) ?? { first: 0, previous: undefined }
/** Gives a page that was JSON its place again. */
export const placed = <P extends object>(page: P, place: Place | undefined): P =>
  place ? Object.assign(page, { [placeOfPage]: place }) : page
