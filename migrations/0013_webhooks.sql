-- Each account's events in their order, for whoever replays them.
CREATE INDEX events_customer ON events (customer_id, seq) WHERE customer_id IS NOT NULL;
CREATE INDEX events_reseller ON events (reseller_id, seq) WHERE reseller_id IS NOT NULL;
