-- Customers and resellers order GPU instances themselves where the offer and their limit allow it. Prices are shown only.
ALTER TABLE gpu_offers ADD COLUMN self_service INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gpu_offers ADD COLUMN price TEXT;
ALTER TABLE gpu_offers ADD COLUMN currency TEXT;
ALTER TABLE gpu_offers ADD COLUMN price_per TEXT NOT NULL DEFAULT 'month';
CREATE INDEX gpu_offers_self_service ON gpu_offers (name) WHERE self_service = 1 AND archived = 0;

ALTER TABLE packages ADD COLUMN price TEXT;
ALTER TABLE packages ADD COLUMN currency TEXT;
ALTER TABLE packages ADD COLUMN price_per TEXT NOT NULL DEFAULT 'month';

ALTER TABLE gpu_images ADD COLUMN description TEXT;
ALTER TABLE gpu_images ADD COLUMN icon TEXT;
ALTER TABLE gpu_images ADD COLUMN docs_url TEXT;
-- The port of the container that is the way in.
ALTER TABLE gpu_images ADD COLUMN opens_port INTEGER;

-- So many GPUs may an account hold when it orders instances itself.
ALTER TABLE accounts ADD COLUMN gpu_limit INTEGER NOT NULL DEFAULT 0;
