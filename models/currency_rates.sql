-- What an amount is multiplied by to get it in the reporting currency, one row a currency and day: `currency` in the
-- configuration says which currency that is and where the rates stand. Without one there are no rows, and the amounts
-- of other models in the reporting currency are null. A day without a rate has the one before it, for as long as
-- `currency.max_age` says; after that, and before the first rate, there is none. The reporting currency itself has no rows.
-- key: currency_code, rate_date
-- column currency_code: The currency of the amount.
-- column rate_date: The day of the amount.
-- column factor: What it is multiplied by, with 15 digits behind the point.
select currency_code, rate_date, cast(factor as decimal(38, 15)) as factor
from _tributary.currency_factors
