/** The part of the panel a page is shown in: the staff's, a reseller's, or an owner's. The same views serve all three. */
export type Area = '/admin' | '/reseller' | ''
