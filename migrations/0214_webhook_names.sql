-- What its owner calls a webhook; null: the host of its address.
ALTER TABLE webhooks ADD COLUMN name TEXT;
