-- The day it is: what ages (open orders, due amounts) is counted up to here, so that every view counts by the same day.
-- key: today
-- column today: Today's date by the database's clock and time zone.
select current_date as today
